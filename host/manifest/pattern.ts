import { messageOf, quote } from "../errors/errors.ts";

const MAX_PATTERN_LENGTH = 1_024;

/**
 * Why a package may not use `pattern`, or null. Backreferences and lookaround are refused, so that a later engine that
 * runs in linear time can take over; what is left can still take exponential time in this one and runs only where it
 * can be ended.
 */
export function patternProblem(pattern: string): string | null {
  if (pattern.length > MAX_PATTERN_LENGTH) return `at most ${MAX_PATTERN_LENGTH} characters are wanted`;
  let inClass = false;
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern[i];
    if (char === "\\") {
      i++;
      if (!inClass && /[1-9k]/.test(pattern[i] ?? "")) return "backreferences are not allowed";
    } else if (inClass) {
      inClass = char !== "]";
    } else if (char === "[") {
      inClass = true;
    } else if (char === "(" && /^\?<?[=!]/.test(pattern.slice(i + 1, i + 4))) {
      return "lookahead and lookbehind are not allowed";
    }
  }
  try {
    new RegExp(pattern, "u");
    return null;
  } catch (error) {
    return `a regular expression is wanted (${quote(messageOf(error), 120).slice(1, -1)})`;
  }
}
