import { ConnectorError } from "./connector.ts";
import { invalidRequest, payloadBytes, payloadFields } from "./connector-payload.ts";
import { hostName } from "./http-host-name.ts";
import type { HostRule, HttpMethod } from "./http-hosts.ts";

/** One request to one host, with nothing in it that was not checked. */
export interface HttpRequest {
  readonly method: HttpMethod;
  readonly host: HostRule;
  /** The path with its query, in ASCII, as it stands in the first line. */
  readonly target: string;
  /** Of the guest, by lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer | null;
}

/** Servers commonly take 8 KiB for the first line. */
export const LONGEST_TARGET = 8_192;
const MOST_SEGMENTS = 64;
const MOST_HEADERS = 64;
const MOST_HEADER_BYTES = 8_192;

const FIELDS = ["host", "segments", "query", "headers", "body"];
const TOKEN = /^[!#$%&'*+.^`|~0-9A-Za-z_-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;
/**
 * Of the connection, of the framing, of a proxy, or a way to say another method than the one that was allowed. Servers that hand headers
 * on as variables take `_` for `-`.
 */
const NOT_THE_GUESTS =
  /^(?:host|connection|keep-alive|transfer-encoding|content-length|upgrade|http2-settings|te|trailer|expect|accept-encoding|proxy-.*|x-http-method(?:-override)?|x-method-override)$/;
/** Escaped as often as one likes: a server that decodes twice would find it. */
const ESCAPED = /%(?:25)*(2e|2f|5c|[01][0-9a-f]|7f)/gi;

/**
 * What a guest asks for. The operation is the method in lower case, the payload `{ host, segments?, query?, headers?, body? }`. Throws
 * `invalid-request`, `host-not-allowed` and `method-not-allowed`.
 */
export function httpRequest(
  operation: string,
  payload: unknown,
  hosts: ReadonlyMap<string, HostRule>,
  requestBytes: number,
): HttpRequest {
  const fields = payloadFields(payload, FIELDS);
  const host = allowedHost(fields["host"], hosts);
  const method = host.methods.find((each) => each.toLowerCase() === operation);
  if (method === undefined)
    throw new ConnectorError(
      "method-not-allowed",
      `The host takes ${host.methods.map((each) => each.toLowerCase()).join(", ")}`,
    );
  const target = `/${segmentsText(fields["segments"])}${queryText(fields["query"])}`;
  if (target.length > LONGEST_TARGET)
    throw invalidRequest(
      `segments and query have ${target.length} characters once escaped: at most ${LONGEST_TARGET} are sent`,
    );
  const body = fields["body"] === undefined ? null : payloadBytes(fields["body"], "body", requestBytes);
  if (body !== null && (method === "GET" || method === "HEAD")) throw invalidRequest(`${method} has no body`);
  return { method, host, target, headers: guestHeaders(fields["headers"], host), body };
}

function allowedHost(given: unknown, hosts: ReadonlyMap<string, HostRule>): HostRule {
  if (typeof given !== "string") throw invalidRequest("host is no text: the name of a host is wanted");
  const name = hostName(given);
  if (name === null)
    throw invalidRequest("host is no bare name: one without scheme, port, user and a dot at the end is wanted");
  const host = hosts.get(name);
  if (host === undefined) throw new ConnectorError("host-not-allowed", "The host is not on the list of this connector");
  return host;
}

function segmentsText(given: unknown): string {
  if (given === undefined) return "";
  if (!Array.isArray(given) || given.length > MOST_SEGMENTS)
    throw invalidRequest(`segments is no list of at most ${MOST_SEGMENTS} texts`);
  return given.map((segment: unknown, index) => segmentText(segment, `segments[${index}]`)).join("/");
}

function segmentText(given: unknown, field: string): string {
  if (typeof given !== "string" || given.length > LONGEST_TARGET)
    throw invalidRequest(`${field} is no text of bounded length`);
  const bare = given.replace(ESCAPED, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  if (bare === "" || bare === "." || bare === "..")
    throw invalidRequest(`${field} is empty or made of dots: each names one level`);
  if (/[/\\\u0000-\u001f\u007f]/.test(bare))
    throw invalidRequest(`${field} has a slash, a backslash or a control character: each names one level`);
  return escaped(given, field);
}

function queryText(given: unknown): string {
  if (given === undefined) return "";
  if (typeof given !== "object" || given === null || Array.isArray(given)) throw invalidRequest("query is no object");
  const parts: string[] = [];
  let length = 0;
  for (const [name, value] of Object.entries(given)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (typeof each !== "string" && typeof each !== "boolean" && !Number.isFinite(each))
        throw invalidRequest("query has a value that is no text, number, boolean or list of these");
      // Before it is escaped, which makes it up to nine times as long.
      length += name.length + String(each).length + 2;
      if (length > LONGEST_TARGET)
        throw invalidRequest(`query is too long: at most ${LONGEST_TARGET} characters are sent`);
      parts.push(`${escaped(name, "query")}=${escaped(String(each), "query")}`);
    }
  }
  return parts.length === 0 ? "" : `?${parts.join("&")}`;
}

/** All but letters, digits, `-`, `.`, `_` and `~`. */
function escaped(text: string, field: string): string {
  try {
    return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  } catch {
    throw invalidRequest(`${field} has half of a surrogate pair`);
  }
}

function guestHeaders(given: unknown, host: HostRule): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  if (given === undefined) return headers;
  if (typeof given !== "object" || given === null || Array.isArray(given)) throw invalidRequest("headers is no object");
  const entries = Object.entries(given);
  if (entries.length > MOST_HEADERS)
    throw invalidRequest(`headers has ${entries.length} names: at most ${MOST_HEADERS} are sent`);
  let bytes = 0;
  for (const [name, value] of entries) {
    const lower = name.toLowerCase();
    if (!TOKEN.test(name) || headers.has(lower))
      throw invalidRequest("headers has a name that is no token, or has it twice");
    const hyphened = lower.replaceAll("_", "-");
    if (
      NOT_THE_GUESTS.test(hyphened) ||
      [...host.headers.keys()].some((each) => each.replaceAll("_", "-") === hyphened)
    )
      throw invalidRequest("headers has a name that is not the guest's to set");
    if (typeof value !== "string" || !HEADER_VALUE.test(value))
      throw invalidRequest("headers has a value that is no text of printable ASCII");
    bytes += name.length + value.length + 4;
    if (bytes > MOST_HEADER_BYTES)
      throw invalidRequest(`headers is too long: at most ${MOST_HEADER_BYTES} bytes are sent`);
    headers.set(lower, value);
  }
  return headers;
}
