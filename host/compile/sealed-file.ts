import { createHmac, timingSafeEqual } from "node:crypto";

/** Says which form the file has; another form has another mark and does not open. */
const MARK = Buffer.from("airlock1", "latin1");
const MAC_BYTES = 32;

/** Bytes that a file has beside its payload. */
export const SEAL_BYTES = MARK.length + MAC_BYTES;

/**
 * A payload as a file: mark, HMAC-SHA-256, payload. What the HMAC covers starts with the name under which the payload is kept,
 * so that a file that stands under another name, however valid there, does not open.
 */
export function seal(secret: Buffer, name: string, payload: Uint8Array): readonly Uint8Array[] {
  return [MARK, macOf(secret, name, payload), payload];
}

/** The payload, or null when it was not sealed with this secret under this name. Nothing is parsed. */
export function unseal(secret: Buffer, name: string, file: Buffer): Buffer | null {
  if (file.length < SEAL_BYTES || !file.subarray(0, MARK.length).equals(MARK)) return null;
  const payload = file.subarray(SEAL_BYTES);
  return timingSafeEqual(file.subarray(MARK.length, SEAL_BYTES), macOf(secret, name, payload)) ? payload : null;
}

/** The name's length goes before it: no byte can pass from the name to the payload or back. */
function macOf(secret: Buffer, name: string, payload: Uint8Array): Buffer {
  return createHmac("sha256", secret)
    .update(MARK)
    .update(`${Buffer.byteLength(name)}:${name}`)
    .update(payload)
    .digest();
}
