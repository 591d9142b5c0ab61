import { findCards } from "./cards.ts";
import { Declined } from "./declined.ts";
import { findEmails } from "./emails.ts";
import { findIbans } from "./ibans.ts";
import { type MaskStyle, masked } from "./mask.ts";
import { findPhones } from "./phones.ts";
import { KINDS, type Kind, replaceSpans, type Span } from "./span.ts";

/** What can be asked; the host has checked it against the manifest's schema. */
export interface RedactInput {
  readonly text: string;
  /** All of them when it is not given. */
  readonly kinds?: readonly Kind[];
  readonly mask?: MaskStyle;
}

export interface RedactOutput {
  readonly text: string;
  readonly findings: readonly Finding[];
}

/** What was found of one kind. */
export interface Finding {
  readonly kind: Kind;
  readonly count: number;
  /** Places in the original text, in UTF-16 code units; the first thousand. */
  readonly positions: readonly Span[];
}

const MAX_TEXT = 1_000_000;
const MAX_POSITIONS = 1_000;

const FINDERS: Readonly<Record<Kind, (text: string) => readonly Span[]>> = {
  email: findEmails,
  iban: findIbans,
  card: findCards,
  phone: findPhones,
};

/**
 * Masks personal data. `emit` is told of each kind that was found, with its count and never with the data itself.
 * Declines with `no-kinds` and `text-too-long`.
 */
export function redact(input: RedactInput, emit: (type: string, payload: unknown) => void): RedactOutput {
  const { text, kinds = KINDS, mask = "label" } = input;
  if (kinds.length === 0) throw new Declined("no-kinds", "There is no kind to look for");
  if (text.length > MAX_TEXT) {
    throw new Declined("text-too-long", `The text has ${text.length} characters, at most ${MAX_TEXT} are read`);
  }
  const found: (Span & { readonly kind: Kind })[] = [];
  const findings: Finding[] = [];
  let rest = text;
  for (const kind of KINDS) {
    if (!kinds.includes(kind)) continue;
    const spans = FINDERS[kind](rest);
    if (spans.length === 0) continue;
    // What is found is gone for the next kinds; the length stays, and with it every position.
    rest = replaceSpans(rest, spans, (part) => "\n".repeat(part.length));
    for (const { start, end } of spans) found.push({ start, end, kind });
    findings.push({ kind, count: spans.length, positions: spans.slice(0, MAX_POSITIONS) });
    emit("pii-found", { kind, count: spans.length });
  }
  found.sort((a, b) => a.start - b.start);
  return { text: replaceSpans(text, found, (part, { kind }) => masked(part, kind, mask)), findings };
}
