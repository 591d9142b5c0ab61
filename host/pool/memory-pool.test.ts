import { describe, expect, it } from "vitest";
import { MemoriesExhausted, MemoryPool } from "./memory-pool.ts";
import { BRIDGE_FIELDS } from "./protocol.ts";

function pool(already = 0) {
  const all = new Int32Array([already]);
  const own = new Int32Array(BRIDGE_FIELDS.count);
  return { all, own, memories: new MemoryPool(all, own) };
}

describe("MemoryPool", () => {
  it("take() gives back a zeroed memory of the same shape, and only when recycling", () => {
    const { memories } = pool();
    const first = memories.take(1, 4, true);
    new Uint8Array(first.buffer).fill(7);
    memories.give(first, 1, 4);
    expect(memories.take(1, 5, true)).not.toBe(first);
    expect(memories.take(1, 4, false)).not.toBe(first);
    const again = memories.take(1, 4, true);
    expect(again).toBe(first);
    expect(new Uint8Array(again.buffer).every((byte) => byte === 0)).toBe(true);
  });

  it("give() keeps no memory that grew", () => {
    const { memories } = pool();
    const grown = memories.take(1, 4, true);
    grown.grow(1);
    memories.give(grown, 1, 4);
    expect(memories.take(1, 4, true)).not.toBe(grown);
  });

  it("take() counts for the process and refuses past its bound, which others may have used up", () => {
    const { all, own, memories } = pool(9_999);
    memories.take(1, 1, true);
    expect(() => memories.take(1, 1, true)).toThrow(MemoriesExhausted);
    expect([all[0], own[BRIDGE_FIELDS.memories]]).toEqual([10_000, 1]);
  });
});
