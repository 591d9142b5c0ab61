import { nearest, quote } from "../errors/errors.ts";
import { ConnectorError } from "./connector.ts";
import { isBase64 } from "./privacy.ts";

/** What a guest sent is not what the operation takes. Ends the call with the code `invalid-request`. */
export function invalidRequest(what: string): ConnectorError {
  return new ConnectorError("invalid-request", what);
}

/** An operation that the connector does not have. Ends the call with the code `unknown-operation`. */
export function unknownOperation(operation: string, known: readonly string[]): ConnectorError {
  const near = nearest(operation, known);
  const hint = near === undefined ? `one of ${known.join(", ")} is wanted` : `did you mean ${quote(near)}?`;
  return new ConnectorError("unknown-operation", `The operation ${quote(operation, 60)} is unknown: ${hint}`);
}

/** The fields of a payload, each of which is known to the operation. Throws `invalid-request`. */
export function payloadFields(payload: unknown, known: readonly string[]): Readonly<Record<string, unknown>> {
  if (typeof payload !== "object" || payload === null || Array.isArray(payload))
    throw invalidRequest(
      `The payload is ${payload === null ? "null" : Array.isArray(payload) ? "a list" : `a ${typeof payload}`}: an object ${known.length === 0 ? "without fields" : `with ${known.join(", ")}`} is wanted`,
    );
  const surplus = Object.keys(payload).find((key) => !known.includes(key));
  if (surplus !== undefined) {
    const near = nearest(surplus, known);
    throw invalidRequest(
      `The payload has the unknown field ${quote(surplus, 60)}: ${near === undefined ? `known: ${known.join(", ") || "none"}` : `did you mean ${quote(near)}?`}`,
    );
  }
  return payload as Readonly<Record<string, unknown>>;
}

/** The bytes of a base64 text, none of them made before it is known that they are at most `most`. Throws `invalid-request`. */
export function payloadBytes(text: unknown, field: string, most: number): Buffer {
  if (typeof text !== "string") throw invalidRequest(`${field} is no text: base64 is wanted`);
  if (text.length > Math.ceil(most / 3) * 4)
    throw invalidRequest(`${field} is too long: at most ${most} bytes are taken`);
  if (!isBase64(text) || !isCanonical(text.slice(-4)))
    throw invalidRequest(`${field} is no base64: the alphabet with "+", its slash, and padding is wanted`);
  const bytes = Buffer.from(text, "base64");
  if (bytes.length > most) throw invalidRequest(`${field} has ${bytes.length} bytes: at most ${most} are taken`);
  return bytes;
}

/** Two texts for the same bytes would be one too many: bits that stand for nothing are zero. */
function isCanonical(lastGroup: string): boolean {
  return Buffer.from(lastGroup, "base64").toString("base64") === lastGroup;
}
