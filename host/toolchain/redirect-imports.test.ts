import { describe, expect, test } from "vitest";
import { Writer } from "../binary/binary.ts";
import { callSites } from "./call-sites.ts";
import { type Replacement, redirectImports } from "./redirect-imports.ts";

const I32 = 0x7f;

/** Imports `env.zero` and `env.one`, both () -> i32; exports `sum`, which calls both and adds a constant of two bytes. */
function guest(constant: number): Uint8Array {
  const body = [0, 0x10, 0, 0x10, 0x81, 0x80, 0x80, 0x80, 0, 0x6a, 0x41, constant | 0x80, 0x00, 0x6a, 0x0b];
  return new Writer()
    .bytes([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0])
    .section(1, (out) => out.bytes([1, 0x60, 0, 1, I32]))
    .section(2, (out) => out.u32(2).name("env").name("zero").bytes([0, 0]).name("env").name("one").bytes([0, 0]))
    .section(3, (out) => out.bytes([1, 0]))
    .section(7, (out) => out.u32(1).name("sum").bytes([0, 2]))
    .section(10, (out) => out.u32(1).u32(body.length).bytes(body))
    .view()
    .slice();
}

const constant = (name: string, value: number): Replacement => ({
  module: /^env$/,
  name,
  params: [],
  results: [I32],
  body: [0x41, value, 0x0b],
});

function sum(bytes: Uint8Array): number {
  const module = new WebAssembly.Module(bytes as Uint8Array<ArrayBuffer>);
  const { exports } = new WebAssembly.Instance(module, { env: { zero: () => 10, one: () => 20 } });
  return (exports as unknown as { sum(): number }).sum();
}

describe("redirectImports()", () => {
  test("sends calls of the named imports elsewhere, and leaves the others and what looks like a call", () => {
    // 0x10 inside of the constant is no call.
    expect(sum(guest(0x10))).toBe(46);
    expect(sum(redirectImports(guest(0x10), [constant("one", 1)]))).toBe(27);
    expect(sum(redirectImports(guest(0x10), [constant("zero", 2), constant("one", 3)]))).toBe(21);
  });

  test("refuses an import that is missing or has another type", () => {
    expect(() => redirectImports(guest(1), [constant("two", 1)])).toThrow("no import two of the known type");
    expect(() => redirectImports(guest(1), [{ ...constant("one", 1), params: [I32] }])).toThrow("no import one");
  });
});

describe("callSites()", () => {
  const targets = (...body: number[]) => [...callSites(Uint8Array.from([0, ...body]))].map(({ target }) => target);

  test("steps over the immediates of every kind of instruction", () => {
    const before = [
      ...[0x02, 0x40, 0x03, 0x7f, 0x0c, 0x10, 0x0d, 0x10, 0x0e, 0x01, 0x10, 0x10, 0x0b, 0x0b],
      ...[0x20, 0x10, 0x24, 0x10, 0x28, 0x02, 0x10, 0x3f, 0x00, 0x40, 0x00, 0x11, 0x10, 0x00],
      ...[0x41, 0x90, 0x10, 0x42, 0x90, 0x90, 0x10, 0x43, 0x10, 0x10, 0x10, 0x10],
      ...[0x44, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x1c, 0x01, 0x7f, 0xd0, 0x70, 0xd2, 0x10],
      ...[0xfc, 0x00, 0xfc, 0x0a, 0x10, 0x10, 0xfc, 0x0b, 0x10, 0x6a, 0xc0],
    ];
    expect(targets(...before, 0x10, 0x05, 0x12, 0x06, 0x0b)).toEqual([5, 6]);
  });

  test("skips the declarations of locals", () => {
    expect([...callSites(Uint8Array.from([1, 0x10, 0x7f, 0x10, 3, 0x0b]))]).toEqual([{ start: 4, end: 5, target: 3 }]);
  });

  test("refuses what it does not know, for it could not tell its length", () => {
    for (const body of [
      [0xfd, 0x0c],
      [0xfe, 0x00],
      [0x06, 0x40],
      [0xfc, 0x12],
    ])
      expect(() => targets(...body)).toThrow("Unknown opcode");
  });
});
