import { messageOf, quote } from "../errors/errors.ts";

/** JSON text, parsed; or why it was not. */
export type JsonText =
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "too-deep"; readonly maxDepth: number; readonly text: string }
  | { readonly kind: "too-many"; readonly text: string }
  | { readonly kind: "not-json"; readonly text: string };

/** How deep JSON from outside may nest unless the caller says otherwise. */
export const MAX_JSON_DEPTH = 64;

/**
 * How many brackets, braces, commas and colons JSON from outside may hold. One of them can stand for some hundred bytes of
 * heap, and V8 does not survive a thread that goes far past its heap at once: it aborts the whole process.
 */
export const MAX_JSON_MARKS = 1_000_000;

/**
 * How deep arrays and objects nest in `text`, found by one scan that knows strings. Stops at the first level past
 * `max` and then answers `max + 1`. Text that is not JSON gets some number; nothing is parsed.
 */
export function jsonDepth(text: string, max: number): number {
  return scan(text, max, MAX_JSON_MARKS).depth;
}

/** Why `text` may not be parsed, or null: it nests deeper than `maxDepth`, or holds more than MAX_JSON_MARKS. */
export function jsonExcess(
  text: string,
  maxDepth = MAX_JSON_DEPTH,
  maxMarks = MAX_JSON_MARKS,
): Extract<JsonText, { kind: "too-deep" | "too-many" }> | null {
  const { depth, marks } = scan(text, maxDepth, maxMarks);
  if (depth > maxDepth) return { kind: "too-deep", maxDepth, text: `nests deeper than ${maxDepth} levels` };
  if (marks > maxMarks) return { kind: "too-many", text: `holds more than ${maxMarks} values and keys` };
  return null;
}

/** Counts in one pass; stops at the first level past `maxDepth`, or the first mark past `maxMarks`. */
function scan(text: string, maxDepth: number, maxMarks: number): { readonly depth: number; readonly marks: number } {
  let depth = 0;
  let deepest = 0;
  let marks = 0;
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case 0x22: // "
        i = endOfString(text, i + 1);
        break;
      case 0x5b: // [
      case 0x7b: // {
        depth++;
        marks++;
        if (depth > deepest) deepest = depth;
        if (deepest > maxDepth || marks > maxMarks) return { depth: deepest, marks };
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth--;
        break;
      case 0x2c: // ,
      case 0x3a: // :
        if (++marks > maxMarks) return { depth: deepest, marks };
        break;
    }
  }
  return { depth: deepest, marks };
}

/** Parses one JSON value after a scan, so that neither the parser nor a later walk runs out of stack or heap. */
export function parseJsonText(
  text: string,
  options: { readonly maxDepth?: number; readonly maxMarks?: number } = {},
): JsonText {
  const excess = jsonExcess(text, options.maxDepth, options.maxMarks);
  if (excess !== null) return excess;
  try {
    return { kind: "value", value: JSON.parse(text) };
  } catch (error) {
    return { kind: "not-json", text: `is not JSON: ${located(messageOf(error), text)}` };
  }
}

/** The index of the quote that ends the string, or the end of the text. */
function endOfString(text: string, start: number): number {
  for (let i = start; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x5c) i++;
    else if (code === 0x22) return i;
  }
  return text.length;
}

/** The engine's words with line and column instead of an offset. It quotes parts of the text, so they are escaped. */
function located(message: string, text: string): string {
  const said = quote(message, 120).slice(1, -1).replaceAll('\\"', '"');
  const offset = /at position (\d+)/.exec(message)?.[1];
  if (offset === undefined) return said;
  const before = text.slice(0, Number(offset)).split("\n");
  const place = `line ${before.length}, column ${before.at(-1)!.length + 1}`;
  return said.replace(/(?: in JSON)? at position \d+(?: \(line \d+ column \d+\))?/, ` at ${place}`);
}
