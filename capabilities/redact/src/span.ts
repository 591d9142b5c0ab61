/** What is looked for, in the order in which a place that fits several is given away. */
export const KINDS = ["email", "iban", "card", "phone"] as const;

/** One kind of personal data. */
export type Kind = (typeof KINDS)[number];

/** A place in the text, in UTF-16 code units; `end` is the first one after it. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The text with the spans, which are in order and apart, replaced by what `replace` makes of them. */
export function replaceSpans<S extends Span>(
  text: string,
  spans: readonly S[],
  replace: (found: string, span: S) => string,
): string {
  const parts: string[] = [];
  let position = 0;
  for (const span of spans) {
    parts.push(text.slice(position, span.start), replace(text.slice(span.start, span.end), span));
    position = span.end;
  }
  parts.push(text.slice(position));
  return parts.join("");
}

/** True for an ASCII letter or digit. */
export function isWordCode(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
}
