import { HostError, quote } from "../errors/errors.ts";
import type { Format, Quota } from "./entries.ts";

/** Bytes of a name as UTF-8. */
export const MOST_NAME_BYTES = 512;
/** Entries of one page, and of one claim. */
export const MOST_LISTED = 1_000;
/** Far past what a body should have, and well below what SQLite can bind (a billion). */
export const MOST_BODY_BYTES = 256 * 1024 * 1024;
/** What a Date can be. */
const MOST_TIME = 8.64e15;

/** A name that its bytes as UTF-8 stand for: a lone surrogate would become another character. Throws AIRLOCK_STORE_OPTIONS_INVALID. */
export function checkedName(what: string, name: unknown, least = 1): string {
  if (typeof name !== "string") throw wrong(what, name, "a string is wanted");
  // Every code unit is at least a byte: what is far too long is not encoded.
  const bytes = name.length > MOST_NAME_BYTES ? null : Buffer.from(name, "utf8");
  if (bytes === null || bytes.length > MOST_NAME_BYTES || bytes.length < least)
    throw wrong(what, name, `${least} to ${MOST_NAME_BYTES} bytes as UTF-8 are wanted`);
  if (bytes.toString("utf8") !== name) throw wrong(what, name, "Unicode text without lone surrogates is wanted");
  return name;
}

/** The bytes under which a name is kept: SQLite would cut some functions of a text short at a NUL, so that two names were one. */
export function nameBytes(name: string): Buffer {
  return Buffer.from(name, "utf8");
}

/** A copy, which can be given away, and in which nobody writes meanwhile. */
export function checkedBody(body: unknown): Uint8Array {
  if (!(body instanceof Uint8Array)) throw wrong("body", body, "a Uint8Array is wanted");
  if (body.length > MOST_BODY_BYTES)
    throw wrong("body", `${body.length} bytes`, `at most ${MOST_BODY_BYTES} are wanted`);
  return new Uint8Array(body);
}

/** The same bytes: a Buffer that crossed a thread is none any more. */
export function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

export function checkedFormat(format: unknown): Format {
  if (format === "bytes" || format === "json") return format;
  throw wrong("format", format, '"bytes" or "json" is wanted');
}

export function checkedQuota(quota: Quota | undefined): Quota | null {
  if (quota === undefined) return null;
  const { entries, bytes } = quota;
  return { entries: wholeNumber("quota.entries", entries, 0), bytes: wholeNumber("quota.bytes", bytes, 0) };
}

export function wholeNumber(
  what: string,
  value: unknown,
  least: number,
  most: number = Number.MAX_SAFE_INTEGER,
): number {
  if (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most) return value as number;
  throw wrong(what, value, `a whole number from ${least} to ${most} is wanted`);
}

/** Whole milliseconds since the epoch. */
export function checkedTime(what: string, value: unknown): number {
  return wholeNumber(what, value, -MOST_TIME, MOST_TIME);
}

function wrong(what: string, value: unknown, wanted: string): HostError {
  const shown = typeof value === "string" ? quote(value, 60) : typeof value === "object" ? "an object" : String(value);
  return new HostError("AIRLOCK_STORE_OPTIONS_INVALID", `Cannot use the store: ${what} is ${shown}: ${wanted}`);
}
