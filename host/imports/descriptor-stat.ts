import { createHash } from "node:crypto";
import type { DescriptorType, Entry } from "./granted-directory.ts";

const NANOSECONDS = 1_000_000_000n;

/** `descriptor-stat` of WASI. */
export interface DescriptorStat {
  readonly type: DescriptorType;
  readonly linkCount: bigint;
  readonly size: bigint;
  readonly dataAccessTimestamp: undefined;
  readonly dataModificationTimestamp: { readonly seconds: bigint; readonly nanoseconds: number };
  readonly statusChangeTimestamp: undefined;
}

/** What a guest may know of an entry: no owner, no device, and no time but that of the last change of its contents. */
export function statOf({ type, stats }: Entry): DescriptorStat {
  const changed = stats.mtimeNs < 0n ? 0n : stats.mtimeNs;
  return {
    type,
    linkCount: stats.nlink,
    size: stats.size,
    dataAccessTimestamp: undefined,
    dataModificationTimestamp: { seconds: changed / NANOSECONDS, nanoseconds: Number(changed % NANOSECONDS) },
    statusChangeTimestamp: undefined,
  };
}

/** `metadata-hash-value` of WASI: another value when the entry is another object or was changed. */
export function hashOf({ stats: { dev, ino, mtimeNs, size } }: Entry): {
  readonly lower: bigint;
  readonly upper: bigint;
} {
  const digest = createHash("sha256").update(`${dev}/${ino}/${mtimeNs}/${size}`).digest();
  return { lower: digest.readBigUInt64LE(0), upper: digest.readBigUInt64LE(8) };
}
