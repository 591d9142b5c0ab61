import { isWordCode, type Span } from "./span.ts";

/** Length of an IBAN by country, after the registry of SWIFT (release 99). */
const LENGTHS: Readonly<Record<string, number>> = {
  ...{ AD: 24, AE: 23, AL: 28, AT: 20, AZ: 28, BA: 20, BE: 16, BG: 22, BH: 22, BI: 27, BR: 29, BY: 28, CH: 21, CR: 22 },
  ...{ CY: 28, CZ: 24, DE: 22, DJ: 27, DK: 18, DO: 28, EE: 20, EG: 29, ES: 24, FI: 18, FK: 18, FO: 18, FR: 27, GB: 22 },
  ...{ GE: 22, GI: 23, GL: 18, GR: 27, GT: 28, HN: 28, HR: 21, HU: 28, IE: 22, IL: 23, IQ: 23, IS: 26, IT: 27, JO: 30 },
  ...{ KW: 30, KZ: 20, LB: 28, LC: 32, LI: 21, LT: 20, LU: 20, LV: 21, LY: 25, MC: 27, MD: 24, ME: 22, MK: 19, MN: 20 },
  ...{ MR: 27, MT: 31, MU: 30, NI: 28, NL: 18, NO: 15, OM: 23, PK: 24, PL: 28, PS: 29, PT: 25, QA: 29, RO: 24, RS: 22 },
  ...{ RU: 33, SA: 24, SC: 31, SD: 18, SE: 24, SI: 19, SK: 24, SM: 27, SO: 23, ST: 25, SV: 28, TL: 23, TN: 24, TR: 26 },
  ...{ UA: 29, VA: 22, VG: 24, XK: 20, YE: 30 },
};

// Bounded: at most 34 characters with at most one space between two of them.
const CANDIDATE = /(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?: ?[A-Za-z0-9]){11,30}/g;

/** IBANs, in one piece or in groups: of the length of their country, with check digits that are right (modulo 97). */
export function findIbans(text: string): readonly Span[] {
  const spans: Span[] = [];
  CANDIDATE.lastIndex = 0;
  for (let match = CANDIDATE.exec(text); match !== null; match = CANDIDATE.exec(text)) {
    const start = match.index;
    const length = ibanLength(match[0]);
    const found = length > 0 && !isWordCode(text.charCodeAt(start + length));
    if (found) spans.push({ start, end: start + length });
    // The candidate runs on into the next words, and one of those may be what is looked for.
    CANDIDATE.lastIndex = start + (found ? length : 2);
  }
  return spans;
}

/** How much of the candidate is an IBAN, or 0. */
function ibanLength(candidate: string): number {
  const wanted = LENGTHS[candidate.slice(0, 2).toUpperCase()];
  if (wanted === undefined) return 0;
  let taken = "";
  for (let i = 0; i < candidate.length; i++) {
    const char = candidate.charAt(i);
    if (char !== " ") taken += char;
    if (taken.length === wanted) return hasRightCheck(taken.toUpperCase()) ? i + 1 : 0;
  }
  return 0;
}

/** ISO 7064: country and check digits go to the end, letters count 10 to 35, and the number is 1 modulo 97. */
function hasRightCheck(iban: string): boolean {
  const moved = iban.slice(4) + iban.slice(0, 4);
  let rest = 0;
  for (let i = 0; i < moved.length; i++) {
    const code = moved.charCodeAt(i);
    rest = code <= 0x39 ? (rest * 10 + code - 0x30) % 97 : (rest * 100 + code - 0x37) % 97;
  }
  return rest === 1;
}
