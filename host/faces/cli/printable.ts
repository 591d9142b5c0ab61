/**
 * What a terminal would obey or hide instead of show: controls, formatting characters (bidirectional overrides, zero widths,
 * tags), private use, lone surrogates, line and paragraph separators.
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]/gu;
const UNSAFE_IN_LINES = /(?![\n\t])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]/gu;
const UNSAFE_EXCEPT_NEWLINE = /(?!\n)[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]/gu;

/** Text that came from a component, a package or a caller, safe to show: one line, at most `maxLength` characters. */
export function printable(text: string, maxLength = 400): string {
  const shown = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
  return shown.replace(UNSAFE, escaped);
}

/** The same for text in lines that comes in pieces, whatever its length: lines and tabs stay. */
export function printableText(text: string): string {
  return text.replace(UNSAFE_IN_LINES, escaped);
}

/**
 * A value as JSON text that is safe to show and parses to the same value: what a terminal would obey is escaped, which JSON
 * allows inside strings. Big integers become decimal strings, bytes base64.
 */
export function jsonText(value: unknown, indent = 0): string {
  return (JSON.stringify(value, plainValue, indent) ?? "null").replace(UNSAFE_EXCEPT_NEWLINE, escaped);
}

function plainValue(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  return value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value;
}

/** As UTF-16 escapes, so that the text stays JSON also beyond the basic plane. */
function escaped(char: string): string {
  return Array.from({ length: char.length }, (_, index) => {
    return `\\u${char.charCodeAt(index).toString(16).padStart(4, "0")}`;
  }).join("");
}
