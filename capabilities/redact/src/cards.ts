import type { Span } from "./span.ts";

// Bounded: at most 19 digits with at most one separator between two of them.
const CANDIDATE = /(?<![\dA-Za-z])[2-6](?:[ -]?\d){12,18}(?!\d)/g;
const MIN_DIGITS = 13;
/** Cards are written in groups of four to six; a row of short numbers is something else. */
const MAX_GROUPS = 7;

/**
 * Payment card numbers: 13 to 19 digits, with single spaces or hyphens between groups of them, that begin with 2 to 6 as
 * those of the card networks do and pass Luhn's check.
 */
export function findCards(text: string): readonly Span[] {
  const spans: Span[] = [];
  CANDIDATE.lastIndex = 0;
  for (let match = CANDIDATE.exec(text); match !== null; match = CANDIDATE.exec(text)) {
    const start = match.index;
    const groups = match[0].replaceAll("-", " ").split(" ");
    // The next card may begin within the candidate, at a group; where groups are that short, none does.
    if (groups.length > MAX_GROUPS) continue;
    const length = cardLength(groups);
    if (length > 0) spans.push({ start, end: start + length });
    CANDIDATE.lastIndex = start + (length > 0 ? length : groups[0]!.length);
  }
  return spans;
}

/** How much of the candidate is a card: as many of its groups as pass, since an expiry date may follow; or 0. */
function cardLength(groups: readonly string[]): number {
  // Which digits count double depends on how many follow, so both sums are kept: doubled at even places, and at odd ones.
  let even = 0;
  let odd = 0;
  let digits = 0;
  let length = -1;
  let card = 0;
  for (const group of groups) {
    for (let i = 0; i < group.length; i++) {
      const digit = group.charCodeAt(i) - 0x30;
      const doubled = digit < 5 ? digit * 2 : digit * 2 - 9;
      if (digits % 2 === 0) {
        even += doubled;
        odd += digit;
      } else {
        even += digit;
        odd += doubled;
      }
      digits++;
    }
    length += group.length + 1;
    const sum = digits % 2 === 0 ? even : odd;
    if (digits >= MIN_DIGITS && sum % 10 === 0) card = length;
  }
  return card > 0 && isOneDigit(groups.join("")) ? 0 : card;
}

function isOneDigit(digits: string): boolean {
  return digits === digits.charAt(0).repeat(digits.length);
}
