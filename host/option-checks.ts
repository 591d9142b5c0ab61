import { HostError, nearest, quote } from "./errors/errors.ts";

/** Throws AIRLOCK_HOST_OPTIONS_INVALID when `value` is no object, or has a key that is not known. `field` names it in the error. */
export function expectFields(value: unknown, field: string, known: readonly string[]): void {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalidOption(field, value, "an object");
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue;
    const near = nearest(key, known);
    throw new HostError(
      "AIRLOCK_HOST_OPTIONS_INVALID",
      `Cannot use the options: ${field} has the unknown key ${quote(key)}; ${near === undefined ? `one of ${known.join(", ")} is wanted` : `did you mean ${quote(near)}?`}`,
    );
  }
}

/** A whole number within its bounds, or `fallback` where none is given. Throws AIRLOCK_HOST_OPTIONS_INVALID. */
export function wholeOption(value: unknown, field: string, least: number, most: number, fallback: number): number {
  if (value === undefined) return fallback;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= least && value <= most) return value;
  throw invalidOption(field, value, `a whole number from ${least} to ${most}`);
}

/** The error for an option with a wrong value. */
export function invalidOption(field: string, value: unknown, wanted: string): HostError {
  const shown =
    typeof value === "string"
      ? quote(value)
      : typeof value === "object"
        ? value === null
          ? "null"
          : "an object"
        : String(value);
  return new HostError(
    "AIRLOCK_HOST_OPTIONS_INVALID",
    `Cannot use the options: ${field} is ${shown}, ${wanted} is wanted`,
  );
}
