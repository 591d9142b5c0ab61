import fc from "fast-check";
import { expect, test } from "vitest";
import { MemorySnapshot } from "./memory-snapshot.ts";

const PAGE_BYTES = 65_536;

const write = fc.record({ at: fc.nat(2 * PAGE_BYTES - 1), value: fc.nat(255), length: fc.nat(20_000) });

test("putBack() leaves nothing of what was written since", () => {
  const writes = fc.array(write, { maxLength: 8 });
  fc.assert(
    fc.property(writes, fc.array(writes, { minLength: 1, maxLength: 3 }), (before, rounds) => {
      const memory = new WebAssembly.Memory({ initial: 2 });
      const bytes = Buffer.from(memory.buffer);
      for (const { at, value, length } of before) bytes.subarray(at, at + length).fill(value);
      const held = Buffer.from(bytes);
      const snapshot = new MemorySnapshot(memory);
      for (const round of rounds) {
        for (const { at, value, length } of round) bytes.subarray(at, at + length).fill(value);
        snapshot.putBack();
        expect(bytes.equals(held)).toBe(true);
      }
    }),
  );
});

test("putBack() reaches a memory that grew by no page and so has another buffer", () => {
  const memory = new WebAssembly.Memory({ initial: 1 });
  Buffer.from(memory.buffer).fill(7, 100, 5_000);
  const held = Buffer.from(Buffer.from(memory.buffer));
  const snapshot = new MemorySnapshot(memory);
  memory.grow(0);
  Buffer.from(memory.buffer).fill(9, 50, 60_000);
  snapshot.putBack();
  expect(Buffer.from(memory.buffer).equals(held)).toBe(true);
});

test("keptBytes counts the pages that hold something", () => {
  const memory = new WebAssembly.Memory({ initial: 3 });
  new Uint8Array(memory.buffer)[PAGE_BYTES] = 1;
  const { size, keptBytes } = new MemorySnapshot(memory);
  expect({ size, keptBytes }).toEqual({ size: 3 * PAGE_BYTES, keptBytes: 4_096 });
});

test("a memory of no page is put back", () => {
  const snapshot = new MemorySnapshot(new WebAssembly.Memory({ initial: 0 }));
  snapshot.putBack();
  expect(snapshot.size).toBe(0);
});
