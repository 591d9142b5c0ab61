import { createHash } from "node:crypto";
import { ConnectorError } from "./connector.ts";
import { isObjectName } from "./object-name.ts";

/** What an object's file says of it, before its bytes. */
export interface ObjectHead {
  readonly name: string;
  /** Of its bytes. */
  readonly size: number;
  /** Of its bytes, in lower-case hex. */
  readonly sha256: string;
}

const MAGIC = Buffer.from("airlock-object-1");
/** The magic, the length of the head and its digest. */
export const PREFIX_BYTES = MAGIC.length + 4 + 32;
/** Of the head itself: a name of 512 characters, a digest and a number. */
const LONGEST_HEAD = 1_024;

/** The bytes of a head, prefix included. */
export function encodeHead(head: ObjectHead): Buffer {
  const text = Buffer.from(JSON.stringify({ name: head.name, size: head.size, sha256: head.sha256 }));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(text.length);
  return Buffer.concat([MAGIC, length, digestOf(text), text]);
}

/** How long the head after the prefix is. Throws `digest-mismatch`. */
export function headLength(prefix: Buffer): number {
  if (prefix.length !== PREFIX_BYTES || !prefix.subarray(0, MAGIC.length).equals(MAGIC)) throw damaged();
  const length = prefix.readUInt32BE(MAGIC.length);
  if (length > LONGEST_HEAD) throw damaged();
  return length;
}

/** The head that the prefix announces. Throws `digest-mismatch`. */
export function decodeHead(prefix: Buffer, text: Buffer): ObjectHead {
  if (text.length !== headLength(prefix) || !digestOf(text).equals(prefix.subarray(MAGIC.length + 4))) throw damaged();
  // The digest holds: this is what encodeHead has written, or somebody who can make digests too.
  const { name, size, sha256 } = (parsed(text) ?? {}) as Record<string, unknown>;
  if (!isObjectName(name) || !Number.isSafeInteger(size) || Number(size) < 0 || typeof sha256 !== "string")
    throw damaged();
  return { name, size: Number(size), sha256 };
}

/** What is stored is not what was put there. */
export function damaged(): ConnectorError {
  return new ConnectorError(
    "digest-mismatch",
    "The stored object is not the one that was put: it was changed or swapped",
  );
}

function digestOf(bytes: Buffer): Buffer {
  return createHash("sha256").update(bytes).digest();
}

function parsed(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString());
  } catch {
    return null;
  }
}
