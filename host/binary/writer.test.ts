import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Reader, splitSections, Writer } from "./binary.ts";

describe("Writer", () => {
  test("writes unsigned integers that the reader reads", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffff_ffff }), (value) => {
        const bytes = new Writer(1).u32(value).view();
        expect(new Reader(bytes).u32()).toBe(value);
      }),
    );
  });

  test("writes signed integers of 32 bits the same in both ways, and the reader reads them", () => {
    fc.assert(
      fc.property(fc.integer(), (value) => {
        const bytes = new Writer(1).s32(value).view();
        expect(bytes).toEqual(new Writer().signed(value).view());
        expect(new Reader(bytes).s33()).toBe(value);
      }),
    );
    for (const value of [0, 63, 64, -64, -65, 2 ** 31 - 1, -(2 ** 31)]) {
      expect(new Reader(new Writer().s32(value).view()).s33()).toBe(value);
    }
  });

  test("copies short and long ranges and grows on the way", () => {
    const source = Uint8Array.from({ length: 300 }, (_, index) => index);
    const writer = new Writer(1).copy(source, 3, 5).copy(source, 100, 300).copy(source, 7, 7);
    expect(writer.view()).toEqual(Uint8Array.of(3, 4, ...source.subarray(100, 300)));
  });

  test("starts over where it is cleared", () => {
    const writer = new Writer().byte(1).byte(2).clear().byte(3);
    expect([writer.length, ...writer.view()]).toEqual([1, 3]);
  });

  test("frames a section with its size", () => {
    const bytes = new Writer().section(5, (inner) => inner.name("né")).view();
    expect([...bytes]).toEqual([5, 4, 3, 0x6e, 0xc3, 0xa9]);
    expect(splitSections(bytes, 0)).toEqual([{ id: 5, header: 0, start: 2, end: 6 }]);
  });
});
