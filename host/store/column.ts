import { HostError } from "../errors/errors.ts";
import type { Format } from "./entries.ts";

/** A row as it is read, before anything is known of what stands in it. */
export type Columns<Name extends string> = Readonly<Record<Name, unknown>>;

/**
 * Values as they stand in a row. The tables are strict, and yet a damaged page can have anything at all: what is not what was written
 * throws AIRLOCK_STORE_CORRUPT before it goes on as something else.
 */
export function blob(value: unknown): Buffer {
  if (value instanceof Uint8Array) return value as Buffer;
  throw damaged("bytes", value);
}

export function text(value: unknown): string {
  return blob(value).toString("utf8");
}

export function integer(value: unknown): number {
  if (Number.isSafeInteger(value)) return value as number;
  throw damaged("a whole number", value);
}

export function format(value: unknown): Format {
  if (value === "bytes" || value === "json") return value;
  throw damaged("a format", value);
}

function damaged(wanted: string, value: unknown): HostError {
  const found = value === null ? "null" : typeof value;
  return new HostError(
    "AIRLOCK_STORE_CORRUPT",
    `Cannot read the store: a row has ${found} where ${wanted} should be: a store that this program has written is wanted`,
  );
}
