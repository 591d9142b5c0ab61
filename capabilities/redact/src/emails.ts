import { isWordCode, type Span } from "./span.ts";

const MAX_LOCAL = 64;
const MAX_DOMAIN = 253;

/**
 * E-mail addresses: around each `@` as much as can belong to one. Every character is looked at a bounded number of times,
 * because the reach to both sides has a limit. `split` finds the signs, for QuickJS has a fast search behind it.
 */
export function findEmails(text: string): readonly Span[] {
  const spans: Span[] = [];
  let taken = 0;
  let at = -1;
  const pieces = text.split("@");
  for (let i = 0; i < pieces.length - 1; i++) {
    at += pieces[i]!.length + 1;
    const start = localStart(text, at, Math.max(taken, at - MAX_LOCAL));
    if (start === at) continue;
    const end = domainEnd(text, at + 1);
    if (end === 0) continue;
    spans.push({ start, end });
    taken = end;
  }
  return spans;
}

/** Where the part before the sign begins; the sign itself when there is none. */
function localStart(text: string, at: number, lowest: number): number {
  let start = at;
  while (start > lowest && isLocalCode(text.charCodeAt(start - 1))) start--;
  // A dot or an apostrophe at the front belongs to the sentence.
  while (start < at && !isWordCode(text.charCodeAt(start)) && text.charCodeAt(start) < 0xc0) start++;
  return start;
}

function isLocalCode(code: number): boolean {
  // . _ % + - ' and the Latin letters past ASCII
  return (
    isWordCode(code) ||
    code === 0x2e ||
    code === 0x5f ||
    code === 0x25 ||
    code === 0x2b ||
    code === 0x2d ||
    code === 0x27 ||
    (code >= 0xc0 && code <= 0x24f)
  );
}

/** Where the domain ends, or 0 when there is no domain with a name and a top-level one. */
function domainEnd(text: string, start: number): number {
  let end = start;
  const limit = Math.min(text.length, start + MAX_DOMAIN);
  while (end < limit && isDomainCode(text.charCodeAt(end))) end++;
  const labels = text.slice(start, end).split(".");
  // What follows the last whole label, such as the full stop of a sentence, is not part of it.
  let length = 0;
  let good = 0;
  let names = 0;
  for (const label of labels) {
    if (label === "" || label.length > 63 || label.startsWith("-") || label.endsWith("-")) break;
    length += label.length + (names > 0 ? 1 : 0);
    names++;
    if (names > 1 && isTopLevel(label)) good = length;
  }
  return good === 0 ? 0 : start + good;
}

function isDomainCode(code: number): boolean {
  return isWordCode(code) || code === 0x2d || code === 0x2e || (code >= 0xc0 && code <= 0x24f);
}

/** Letters only, or Punycode. */
function isTopLevel(label: string): boolean {
  if (label.startsWith("xn--")) return true;
  if (label.length < 2) return false;
  for (let i = 0; i < label.length; i++) {
    const code = label.charCodeAt(i);
    if (code < 0x41 || code === 0x5f) return false;
  }
  return true;
}
