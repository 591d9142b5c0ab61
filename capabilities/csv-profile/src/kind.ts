/** What a cell is, as a small number: the index in `KINDS`. */
export type Kind = 0 | 1 | 2 | 3 | 4 | 5;

/** Names of the kinds. Missing cells are counted apart and decide nothing. */
export const KINDS = ["missing", "integer", "number", "boolean", "date", "string"] as const;

export const MISSING = 0;
export const INTEGER = 1;
export const NUMBER = 2;
export const BOOLEAN = 3;
export const DATE = 4;
export const STRING = 5;

const ABSENT = new Set(["", "NA", "N/A", "n/a", "null", "NULL", "None", "NaN", "nan"]);
const TRUTH = new Set(["true", "false", "True", "False", "TRUE", "FALSE", "yes", "no", "Yes", "No", "YES", "NO"]);

/**
 * What a trimmed cell is. Digits with a leading zero are a string, because they are codes and not amounts. Dates are
 * ISO ones: `2024-05-31`, with a time after `T` or a space, or with slashes.
 */
export function kindOf(cell: string): Kind {
  const length = cell.length;
  if (length <= 4 && ABSENT.has(cell)) return MISSING;
  const first = cell.charCodeAt(0);
  // 0 to 9, "+", "-", "."
  if ((first >= 0x30 && first <= 0x39) || first === 0x2d || first === 0x2b || first === 0x2e) {
    if (isNumber(cell, first, length)) return isWhole(cell) ? INTEGER : NUMBER;
    return length >= 10 && isDate(cell) ? DATE : STRING;
  }
  return length <= 5 && TRUTH.has(cell) ? BOOLEAN : STRING;
}

function isNumber(cell: string, first: number, length: number): boolean {
  const value = +cell;
  if (!Number.isFinite(value)) return false;
  if (first !== 0x30 || length === 1) return true;
  // "0.5", "0e3" and "0" are numbers; "0123" is a code, "0x1f" and "0b1" are none that a table means.
  const second = cell.charCodeAt(1);
  return second === 0x2e || second === 0x65 || second === 0x45;
}

function isWhole(cell: string): boolean {
  return cell.indexOf(".") < 0 && cell.indexOf("e") < 0 && cell.indexOf("E") < 0;
}

function isDate(cell: string): boolean {
  const separator = cell.charCodeAt(4);
  if ((separator !== 0x2d && separator !== 0x2f) || cell.charCodeAt(7) !== separator) return false;
  const year = digits(cell, 0, 4);
  const month = digits(cell, 5, 7);
  const day = digits(cell, 8, 10);
  if (year < 0 || month < 1 || month > 12 || day < 1 || day > 31) return false;
  if (cell.length === 10) return true;
  const next = cell.charCodeAt(10);
  return (next === 0x54 || next === 0x20) && digits(cell, 11, 13) >= 0 && cell.charCodeAt(13) === 0x3a;
}

/** The number in a range of digits, or -1. */
function digits(cell: string, from: number, to: number): number {
  let value = 0;
  for (let i = from; i < to; i++) {
    const digit = cell.charCodeAt(i) - 0x30;
    // A position past the end gives NaN, for which this is true as well.
    if (!(digit >= 0 && digit <= 9)) return -1;
    value = value * 10 + digit;
  }
  return value;
}
