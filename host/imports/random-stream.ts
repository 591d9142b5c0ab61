import { createCipheriv, createHash } from "node:crypto";

const BLOCK = 16;

/**
 * Bytes `position` to `position + length` of the stream that `seed` and `label` name: AES-256 in counter mode, keyed with
 * SHA-256 of both. It looks random to whoever does not know the seed, and is no secret to whoever does.
 */
export function randomStream(seed: Uint8Array, label: string, position: number, length: number): Uint8Array {
  const key = createHash("sha256").update(`airlock:random/${label}\0`).update(seed).digest();
  const counter = Buffer.alloc(BLOCK);
  counter.writeBigUInt64BE(BigInt(Math.floor(position / BLOCK)), 8);
  const skipped = position % BLOCK;
  const stream = createCipheriv("aes-256-ctr", key, counter).update(new Uint8Array(skipped + length));
  return Uint8Array.prototype.slice.call(stream, skipped);
}
