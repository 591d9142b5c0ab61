import { describe, expect, test } from "vitest";
import { Writer } from "../binary/binary.ts";
import { burnOn, NEWER_NODES, reasonToSkip } from "./testing/newer-nodes.ts";

/** A module of one function of type [] -> [], with two memories, tables, tags and segments and a 64-bit one of each. */
function moduleOf(body: readonly number[], { wide }: { wide: boolean }): Uint8Array {
  const address = wide ? 4 : 0;
  return new Writer()
    .bytes([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0])
    .bytes([1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0])
    .bytes([4, 7, 2, 0x70, address, 1, 0x70, address, 1])
    .bytes([5, 5, 2, address, 1, address, 1])
    .bytes([13, 3, 1, 0, 0])
    .bytes([6, 6, 1, 0x7f, 1, 0x41, 0, 0x0b])
    .bytes([9, 5, 1, 1, 0, 1, 0, 12, 1, 1])
    .section(10, (inner) =>
      inner
        .u32(1)
        .u32(body.length + 2)
        .byte(0)
        .bytes(body)
        .byte(0x0b),
    )
    .bytes([11, 3, 1, 1, 0])
    .view()
    .slice();
}

const IMMEDIATES: readonly (readonly number[])[] = [
  [],
  [0],
  [1],
  [0, 0],
  [1, 1],
  [0x40, 1, 0],
  [0, 0, 0],
  [0x40, 1, 0, 0],
  [0, 0, 0, 0],
  new Array<number>(8).fill(0),
  new Array<number>(16).fill(0),
  [0x40, 0x0b],
  [0x40, 0x19, 0x0b],
  [0x40, 0, 0x0b],
  [0x40, 1, 2, 0, 0x0b],
  [0x40],
  [0x70],
  [0x6e],
  [0x69],
  [1, 0x7f],
  [1, 0x64, 0],
];

/** Every opcode of one byte, and those behind a prefix up to past the last that anybody has given a meaning. */
const HEADS: readonly (readonly number[])[] = [
  ...Array.from({ length: 256 }, (_, opcode) => [opcode]),
  ...[[0xfb, 0xc0] as const, [0xfc, 0x20] as const, [0xfd, 0x140] as const, [0xfe, 0x80] as const].flatMap(
    ([prefix, count]) => Array.from({ length: count }, (_, second) => [prefix, ...new Writer().u32(second).view()]),
  ),
];

describe.each(NEWER_NODES)("on Node $version", (node) => {
  const reason = reasonToSkip(node);

  test.skipIf(reason !== undefined)(
    `every instruction that it accepts is metered or refused by name ${reason ?? ""}`,
    () => {
      const tried = [false, true].flatMap((wide) =>
        HEADS.flatMap((head) => IMMEDIATES.map((immediate) => ({ head, wide, immediate }))),
      );
      // Behind `unreachable` operands of any type are there.
      const orders = tried.map(({ head, immediate, wide }) => {
        const bytes = moduleOf([0x00, ...head, ...immediate, 0x00], { wide });
        return { bytes: Buffer.from(bytes).toString("base64"), calls: [] };
      });
      const metered = new Set<string>();
      const refused = new Map<string, Set<string>>();
      for (const [index, report] of burnOn(node, orders).entries()) {
        const { head } = tried[index]!;
        const name = head.map((byte) => byte.toString(16)).join(" ");
        if (report.refused === undefined) metered.add(name);
        else if (report.isValid) {
          const { code, feature = "", missingInEngine } = report.refused;
          expect([name, code, missingInEngine]).toEqual([name, "AIRLOCK_METER_UNSUPPORTED", undefined]);
          refused.set(feature, (refused.get(feature) ?? new Set()).add(name));
        }
      }
      for (const opcode of ["6", "8", "14", "15", "1f", "a", "d5", "d6", "40", "3f", "28", "fc a", "fc 11"]) {
        expect(metered, opcode).toContain(opcode);
      }
      expect(metered.size).toBeGreaterThan(430);
      expect([...refused.keys()].sort()).toEqual(["garbage collection", "threads and atomics", "relaxed SIMD"].sort());
    },
  );
});
