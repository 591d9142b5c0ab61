/** What a cell is, as a small number. */
export type Kind = 0 | 1 | 2 | 3 | 4 | 5;

export const MISSING = 0;
export const INTEGER = 1;
export const NUMBER = 2;
export const BOOLEAN = 3;
export const DATE = 4;
export const STRING = 5;

const WORDS = new Map<string, Kind>([
  ...["NA", "N/A", "n/a", "null", "NULL", "None", "NaN", "nan"].map((word): [string, Kind] => [word, MISSING]),
  ...["true", "false", "yes", "no"].flatMap((word): [string, Kind][] => [
    [word, BOOLEAN],
    [word.toUpperCase(), BOOLEAN],
    [word.charAt(0).toUpperCase() + word.slice(1), BOOLEAN],
  ]),
]);

// One space before it is what a comma and a space between fields leave. Anchored, so it reads a cell once.
const ISO_DATE = /^ ?\d{4}([-/])(?:0[1-9]|1[0-2])\1(?:0[1-9]|[12]\d|3[01])(?:[T ][012]\d:|\s*$)/;

/**
 * What a cell is, given the number that the engine makes of it; space around it does not matter. Digits with a leading
 * zero are a string, because they are codes and not amounts. Dates are ISO ones: `2024-05-31`, with a time after `T` or a
 * space, or with slashes. The tests come in the order of their price: each step of the interpreter costs fuel, a
 * conversion by the engine hardly any.
 */
export function kindOf(cell: string, value: number): Kind {
  if (value % 1 === 0) return String(value) === cell ? INTEGER : kindOfWhole(cell.trim());
  // Infinity minus itself is not 0, and NaN is neither above nor below it.
  if (value > 0 || value < 0) return value - value === 0 ? NUMBER : STRING;
  const length = cell.length;
  if (length < 10) return length < 8 ? (WORDS.get(cell.trim()) ?? STRING) : STRING;
  const separator = cell.charCodeAt(cell.charCodeAt(0) === 0x20 ? 5 : 4);
  return (separator === 0x2d || separator === 0x2f) && ISO_DATE.test(cell) ? DATE : STRING;
}

/** The engine takes all of `""`, `0x1f`, `0b1` and `007` for whole numbers. */
function kindOfWhole(text: string): Kind {
  if (text === "") return MISSING;
  const digits = text.charAt(0) === "-" || text.charAt(0) === "+" ? text.slice(1) : text;
  // "0.5", "0e3" and "0" are numbers.
  if (digits.length > 1 && digits.charAt(0) === "0" && !".eE".includes(digits.charAt(1))) return STRING;
  return digits.includes(".") || digits.includes("e") || digits.includes("E") ? NUMBER : INTEGER;
}
