import { nearest, quote } from "../errors/errors.ts";
import type { Format } from "../store/store.ts";
import { ConnectorError, type ConnectorRequest } from "./connector.ts";

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

/** The fields of a request's payload, of which each is known. */
export type Fields<Name extends string> = Readonly<Partial<Record<Name, unknown>>>;

/** Throws a ConnectorError, as all functions here: `invalid-request`, with what is wanted. */
export function fieldsOf<Name extends string>(
  { operation, payload }: ConnectorRequest,
  known: readonly Name[],
): Fields<Name> {
  if (typeof payload !== "object" || payload === null || Array.isArray(payload))
    throw invalid(`${operation} takes an object with ${known.join(", ")}`);
  const surplus = Object.keys(payload).find((name) => !(known as readonly string[]).includes(name));
  if (surplus === undefined) return payload as Fields<Name>;
  const near = nearest(surplus, known);
  const hint = near === undefined ? `${known.join(", ")} are known` : `did you mean ${quote(near)}?`;
  throw invalid(`${operation} has the unknown field ${quote(surplus, 60)}: ${hint}`);
}

export function unknownOperation(operation: string, known: readonly string[]): ConnectorError {
  const near = nearest(operation, known);
  const hint = near === undefined ? "" : `, did you mean ${quote(near)}?`;
  return new ConnectorError(
    "unknown-operation",
    `operation is ${quote(operation, 60)}: ${known.join(", ")} are known${hint}`,
  );
}

/** A key or an id; `least` 0 for what may be empty. */
export function nameIn(field: string, value: unknown, least = 1): string {
  const wanted = `${least} to ${MOST_NAME_BYTES} bytes as UTF-8 are wanted`;
  if (typeof value !== "string") throw invalid(`${field} is ${shown(value)}: a text of ${wanted}`);
  // Every code unit is at least a byte: what is far too long is not counted.
  const bytes = value.length > MOST_NAME_BYTES ? value.length : Buffer.byteLength(value);
  if (bytes < least || bytes > MOST_NAME_BYTES) throw invalid(`${field} has ${bytes} bytes or more: ${wanted}`);
  if (/[\ud800-\udfff]/u.test(value))
    throw invalid(`${field} has half a character (a lone surrogate): Unicode is wanted`);
  return value;
}

export function limitIn(value: unknown): number {
  if (value === undefined) return MOST_LISTED;
  if (Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= MOST_LISTED) return value as number;
  throw invalid(`limit is ${shown(value)}: a whole number from 1 to ${MOST_LISTED} is wanted`);
}

/** Null where the payload has neither `body` nor `value`. */
export function contentIn(fields: Fields<"body" | "value">): StoredContent | null {
  const hasValue = Object.hasOwn(fields, "value");
  if (Object.hasOwn(fields, "body")) {
    if (hasValue) throw invalid("the payload has body and value: one of them is wanted");
    return { format: "bytes", body: bytesIn(fields.body) };
  }
  if (!hasValue) return null;
  if (hasInfinity(fields.value)) throw invalid("value has a number that is too large to be kept (past 1.8e308)");
  return { format: "json", body: Buffer.from(JSON.stringify(fields.value), "utf8") };
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
    "too-large",
    `the response has place for ${responseBytes} bytes: at least ${LEAST_RESPONSE_BYTES} are wanted`,
  );
}

/** Bytes that the payload of a response may have as JSON text. */
export function payloadRoom(context: { readonly responseBytes: number }): number {
  return context.responseBytes - ENVELOPE_BYTES;
}

/**
 * As many of the entries, from the first, as have place in the response beside `rest` bytes. Throws a ConnectorError, `too-large`, where not
 * even one has: an answer without any would look like the end.
 */
export function entriesThatFit<Entry>(
  entries: readonly Entry[],
  context: { readonly responseBytes: number },
  rest: (last: Entry) => unknown,
): readonly Entry[] {
  let used = '{"entries":[],"after":}'.length;
  for (const [index, entry] of entries.entries()) {
    used += jsonBytes(entry) + 1;
    if (used + jsonBytes(rest(entry)) <= payloadRoom(context)) continue;
    if (index > 0) return entries.slice(0, index);
    throw new ConnectorError("too-large", `not one entry has place in a response of ${context.responseBytes} bytes`);
  }
  return entries;
}

export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

export function invalid(message: string): ConnectorError {
  return new ConnectorError("invalid-request", message);
}

export function shown(value: unknown): string {
  if (typeof value === "string") return quote(value, 60);
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}

function bytesIn(body: unknown): Buffer {
  const wanted = "bytes in base64, with its padding and nothing else, are wanted";
  if (typeof body !== "string") throw invalid(`body is ${shown(body)}: ${wanted}`);
  const bytes = Buffer.from(body, "base64");
  // Node passes over what is not base64: only what it would write itself is taken.
  if (bytes.toString("base64") !== body) throw invalid(`body is not base64: ${wanted}`);
  return bytes;
}

/** JSON has no infinity, but `1e400` is read as one and would be kept as null. */
function hasInfinity(value: unknown): boolean {
  if (typeof value === "number") return !Number.isFinite(value);
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some(hasInfinity);
}
