import { HostError, nearest, quote } from "../errors/errors.ts";
import type { Store } from "../store/store.ts";

/** Throws AIRLOCK_GATEWAY_CONNECTOR_INVALID when `value` is no object, or has a key that is not known. `field` names it in the error. */
export function expectOptions(
  value: unknown,
  field: string,
  known: readonly string[],
): asserts value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalidOption(field, value, "an object");
  const surplus = Object.keys(value).find((key) => !known.includes(key));
  if (surplus === undefined) return;
  const near = nearest(surplus, known);
  throw new HostError(
    "AIRLOCK_GATEWAY_CONNECTOR_INVALID",
    `Cannot make the connector: ${field} has the unknown key ${quote(surplus)}; ${near === undefined ? `one of ${known.join(", ")} is wanted` : `did you mean ${quote(near)}?`}`,
  );
}

/** A whole number within its bounds, or `fallback` where none is given. */
export function wholeOption(value: unknown, field: string, least: number, most: number, fallback: number): number {
  if (value === undefined) return fallback;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= least && value <= most) return value;
  throw invalidOption(field, value, `a whole number from ${least} to ${most}`);
}

/** A switch, or `fallback` where none is given. */
export function switchOption(value: unknown, field: string, fallback: boolean): boolean {
  if (value === undefined) return fallback;
  if (typeof value === "boolean") return value;
  throw invalidOption(field, value, "true or false");
}

/** What `openStore` answers. */
export function storeOption(value: unknown): Store {
  if (typeof value !== "object" || value === null) throw invalidOption("store", value, "what openStore answers");
  return value as Store;
}

/** The error for an option with a wrong value. Of an object it shows nothing: options hold secrets. */
export function invalidOption(field: string, value: unknown, wanted: string): HostError {
  const shown =
    typeof value === "string"
      ? quote(value)
      : typeof value === "object" && value !== null
        ? "an object"
        : String(value);
  return new HostError(
    "AIRLOCK_GATEWAY_CONNECTOR_INVALID",
    `Cannot make the connector: ${field} is ${shown}, ${wanted} is wanted`,
  );
}
