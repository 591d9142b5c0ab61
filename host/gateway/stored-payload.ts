import { quote } from "../errors/errors.ts";
import type { Format } from "../store/store.ts";
import { ConnectorError } from "./connector.ts";
import { invalidRequest, payloadBytes } from "./connector-payload.ts";

/** Bytes of a key or an id, as UTF-8. */
const MOST_NAME_BYTES = 512;
/** Entries of one answer. */
const MOST_LISTED = 100;
/** What stands around the payload of a response, at most, and a little more. */
const ENVELOPE_BYTES = 80;
/** Every answer has place in it that carries neither contents nor a list. */
const LEAST_RESPONSE_BYTES = 256;

/** What a guest keeps: bytes, that nobody looks into, or a JSON value. */
export interface StoredContent {
  readonly format: Format;
  readonly body: Uint8Array;
}

/** A key or an id; `least` 0 for what may be empty. */
export function nameIn(field: string, value: unknown, least = 1): string {
  const wanted = `${least} to ${MOST_NAME_BYTES} bytes as UTF-8 are wanted`;
  if (typeof value !== "string") throw invalidRequest(`${field} is ${shown(value)}: a text of ${wanted}`);
  // Every code unit is at least a byte: what is far too long is not counted.
  const bytes = value.length > MOST_NAME_BYTES ? value.length : Buffer.byteLength(value);
  if (bytes < least || bytes > MOST_NAME_BYTES) throw invalidRequest(`${field} has ${bytes} bytes or more: ${wanted}`);
  if (/[\ud800-\udfff]/u.test(value))
    throw invalidRequest(`${field} has half a character (a lone surrogate): Unicode is wanted`);
  return value;
}

export function limitIn(value: unknown): number {
  if (value === undefined) return MOST_LISTED;
  if (Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= MOST_LISTED) return value as number;
  throw invalidRequest(`limit is ${shown(value)}: a whole number from 1 to ${MOST_LISTED} is wanted`);
}

/** Null where the payload has neither `body` nor `value`. */
export function contentIn(fields: Readonly<Record<string, unknown>>): StoredContent | null {
  const hasValue = Object.hasOwn(fields, "value");
  if (Object.hasOwn(fields, "body")) {
    if (hasValue) throw invalidRequest("the payload has body and value: one of them is wanted");
    return { format: "bytes", body: payloadBytes(fields["body"], "body", Number.MAX_SAFE_INTEGER) };
  }
  if (!hasValue) return null;
  if (hasInfinity(fields["value"]))
    throw invalidRequest("value has a number that is too large to be kept (past 1.8e308)");
  return { format: "json", body: Buffer.from(JSON.stringify(fields["value"]), "utf8") };
}

/** The field under which the content is given back. */
export function contentField({ format, body }: StoredContent): { readonly body: string } | { readonly value: unknown } {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return format === "bytes" ? { body: bytes.toString("base64") } : { value: JSON.parse(bytes.toString("utf8")) };
}

/** Bytes that the content takes in a response: as it is, or as base64 in quotes. */
export function contentBytes(format: Format, bytes: number): number {
  return format === "json" ? bytes : Math.ceil(bytes / 3) * 4 + 2;
}

/** Before anything is done: an answer that says so would have no place, and the guest would take it for not done. */
export function checkRoom({ responseBytes }: { readonly responseBytes: number }): void {
  if (responseBytes >= LEAST_RESPONSE_BYTES) return;
  throw new ConnectorError(
    "response-too-large",
    `the response has place for ${responseBytes} bytes: at least ${LEAST_RESPONSE_BYTES} are wanted`,
  );
}

/** Bytes that the payload of a response may have as JSON text. */
export function payloadRoom(context: { readonly responseBytes: number }): number {
  return context.responseBytes - ENVELOPE_BYTES;
}

/**
 * As many of the entries, from the first, as have place in the response beside `rest` bytes. Throws a ConnectorError, `response-too-large`, where not
 * even one has: an answer without any would look like the end.
 */
export function entriesThatFit<Entry>(
  entries: readonly Entry[],
  context: { readonly responseBytes: number },
  rest: (last: Entry) => unknown,
): readonly Entry[] {
  let used = '{"entries":[],"next":}'.length;
  for (const [index, entry] of entries.entries()) {
    used += jsonBytes(entry) + 1;
    if (used + jsonBytes(rest(entry)) <= payloadRoom(context)) continue;
    if (index > 0) return entries.slice(0, index);
    throw new ConnectorError(
      "response-too-large",
      `not one entry has place in a response of ${context.responseBytes} bytes`,
    );
  }
  return entries;
}

export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

export function shown(value: unknown): string {
  if (typeof value === "string") return quote(value, 60);
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}

/** JSON has no infinity, but `1e400` is read as one and would be kept as null. */
function hasInfinity(value: unknown): boolean {
  if (typeof value === "number") return !Number.isFinite(value);
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some(hasInfinity);
}
