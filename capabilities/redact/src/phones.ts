import type { Span } from "./span.ts";

/**
 * Three forms, each bounded and each of parts that cannot be split in two ways: international (`+` or `00` and a country
 * code), national with a leading zero, North American in its usual groups.
 */
const PHONE = new RegExp(
  "(?<![\\w+])(?:\\+|00)[1-9](?:[ ().\\/-]{0,2}\\d){7,14}(?!\\d)" +
    "|(?<![\\w+.,:\\/-])\\(?0[1-9](?:[ ().\\/-]{0,2}\\d){7,9}(?!\\d)" +
    "|(?<![\\w+.,:\\/-])(?:1[ .-])?(?:\\([2-9]\\d\\d\\) ?|[2-9]\\d\\d[ .-])\\d{3}[ .-]\\d{4}(?!\\d)",
  "g",
);

const DATE = /^\d\d[./-]\d\d[./-]\d{4}/;

/** Phone numbers. Other digits are left alone, because amounts, times and dates look much the same. */
export function findPhones(text: string): readonly Span[] {
  const spans: Span[] = [];
  PHONE.lastIndex = 0;
  for (let match = PHONE.exec(text); match !== null; match = PHONE.exec(text)) {
    const start = match.index;
    const date = DATE.exec(match[0]);
    if (date === null) spans.push({ start, end: PHONE.lastIndex });
    else PHONE.lastIndex = start + date[0].length;
  }
  return spans;
}
