import { setFlagsFromString } from "node:v8";
import { describe, expect, test } from "vitest";
import { Writer } from "../binary/binary.ts";
import { type HostErrorCode, isHostError } from "../errors/errors.ts";
import { type MeterErrorDetails, type MeterOptions, meter } from "./meter.ts";
import { assembleText, wasm } from "./testing/guest.ts";

interface Refusal extends MeterErrorDetails {
  readonly code: HostErrorCode;
}

function refusal(bytes: Uint8Array, options?: MeterOptions): Refusal | undefined {
  try {
    meter(bytes, options);
    return undefined;
  } catch (error) {
    if (!isHostError(error)) throw error;
    const { code, details } = error as unknown as { code: HostErrorCode; details: MeterErrorDetails };
    return { code, ...details };
  }
}

async function refusalOf(text: string, options?: MeterOptions): Promise<Refusal | undefined> {
  return refusal(await assembleText(text), options);
}

/** A module of one function of type [] -> [], with one memory, table, global and segment, and this body. */
function moduleOf(body: readonly number[]): Uint8Array {
  const code = new Writer()
    .u32(1)
    .u32(body.length + 2)
    .byte(0)
    .bytes(body)
    .byte(0x0b);
  return new Writer()
    .bytes([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0])
    .bytes([1, 4, 1, 0x60, 0, 0])
    .bytes([3, 2, 1, 0])
    .bytes([4, 4, 1, 0x70, 0, 1])
    .bytes([5, 3, 1, 0, 1])
    .bytes([6, 6, 1, 0x7f, 1, 0x41, 0, 0x0b])
    .bytes([9, 5, 1, 1, 0, 1, 0])
    .bytes([12, 1, 1])
    .section(10, (inner) => inner.bytes(code.view()))
    .bytes([11, 3, 1, 1, 0])
    .view()
    .slice();
}

/** Where the body of `moduleOf` begins. */
const BODY = moduleOf([0x0f]).length - 5 - 2;

describe("a feature that is not metered is refused by name and offset", () => {
  test.each([
    ["i32.atomic.load", [0x41, 0, 0xfe, 0x10, 2, 0, 0x1a], 2, "threads and atomics", "0xfe 0x10"],
    [
      "memory.atomic.wait32",
      [0x41, 0, 0x41, 0, 0x42, 0, 0xfe, 0x01, 2, 0, 0x1a],
      6,
      "threads and atomics",
      "0xfe 0x01",
    ],
    ["a relaxed SIMD instruction", [0x00, 0xfd, 0x80, 0x02], 1, "relaxed SIMD", "0xfd 0x100"],
    ["a string instruction", [0xfb, 0x80, 0x01, 0], 0, "string references", "0xfb 0x80"],
    ["cont.new", [0xe0, 0], 0, "stack switching", "0xe0"],
    ["memory.discard", [0x00, 0xfc, 0x12, 0], 1, "memory control", "0xfc 0x12"],
    ["struct.new", [0xfb, 0, 0], 0, "garbage collection", "0xfb 0x00"],
    ["ref.eq", [0x00, 0xd3], 1, "garbage collection", "ref.eq"],
    ["an opcode that does not exist", [0x01, 0x27], 1, "an unknown instruction", "0x27"],
    ["an unassigned SIMD opcode", [0xfd, 0x9a, 0x01], 0, "an unknown instruction", "0xfd 0x9a"],
    ["wide arithmetic", [0x00, 0xfc, 0x13], 1, "wide arithmetic", "0xfc 0x13"],
  ] as const)("%s", (_, body, at, feature, instruction) => {
    expect(refusal(moduleOf(body))).toEqual({
      code: "AIRLOCK_METER_UNSUPPORTED",
      feature,
      instruction,
      offset: BODY + at,
    });
  });

  test.each([
    ["shared memory", "(module (memory 1 1 shared))", "threads and atomics"],
    ["a page size", "(module (memory 1 (pagesize 1)))", "custom page sizes"],
    ["a struct type", "(module (type (struct)))", "garbage collection"],
    ["a recursion group", "(module (rec (type (func)) (type (func))))", "garbage collection"],
    ["a reference of GC", "(module (func (local anyref)))", "garbage collection"],
    ["a null of GC", "(module (func ref.null any drop))", "garbage collection"],
    ["a continuation type", "(module (type $f (func)) (type (cont $f)))", "stack switching"],
    ["a GC instruction in a constant", "(module (global i31ref (ref.i31 (i32.const 1))))", "garbage collection"],
  ])("%s", async (_, text, feature) => {
    const refused = await refusalOf(text);
    expect(refused).toMatchObject({ code: "AIRLOCK_METER_UNSUPPORTED", feature });
    expect(refused!.offset).toBeGreaterThanOrEqual(8);
  });
});

describe("a feature that this version of Node lacks is named so", () => {
  test.each([
    ["try_table", "(module (tag $t) (func try_table (catch_all 0) throw $t end))", "exception references"],
    ["a global of type exnref", "(module (global exnref (ref.null exn)))", "exception references"],
    ["a typed reference", "(module (type $t (func)) (func (param (ref $t))))", "typed function references"],
    ["a table with an initialiser", "(module (func $f) (table 1 funcref (ref.func $f)))", "typed function references"],
    ["call_ref", "(module (type $t (func)) (func ref.null $t call_ref $t))", "typed function references"],
    ["64-bit memory", "(module (memory i64 1))", "64-bit memories"],
    ["64-bit table", "(module (table i64 1 funcref))", "64-bit tables"],
    ["a second memory", "(module (memory 1) (memory 1))", "more than one memory"],
    ["a memory beside an imported one", '(module (import "a" "b" (memory 1)) (memory 1))', "more than one memory"],
    [
      "an access of a second memory",
      "(module (memory 1) (memory 1) (func (drop (i32.load 1 (i32.const 0)))))",
      "more than one memory",
    ],
    ["br_on_null", "(module (func ref.null func br_on_null 0 drop))", "typed function references"],
  ])("%s", async (_, text, feature) => {
    const bytes = await assembleText(text);
    if (wasm.validate(bytes)) return expect(refusal(bytes)).toBeUndefined();
    return expect(refusal(bytes)).toMatchObject({ code: "AIRLOCK_METER_UNSUPPORTED", feature, missingInEngine: true });
  });
});

describe("extended constant expressions", () => {
  const text = `(module (import "a" "b" (global $i i32)) (memory 1)
    (global $g (mut i32) (i32.add (global.get $i) (i32.const 1)))
    (data (offset (i32.mul (global.get $i) (i32.const 2))) "x") (func (export "run") (result i32) global.get $g))`;

  test("are accepted where the engine accepts them, and named where it does not", async () => {
    const bytes = await assembleText(text);
    if (!wasm.validate(bytes)) {
      expect(refusal(bytes)).toMatchObject({
        code: "AIRLOCK_METER_UNSUPPORTED",
        feature: "extended constant expressions",
        missingInEngine: true,
      });
    }
    setFlagsFromString("--experimental-wasm-extended-const");
    expect(refusal(bytes)).toBeUndefined();
    setFlagsFromString("--no-experimental-wasm-extended-const");
  });
});

describe("every instruction that the engine accepts", () => {
  const immediates = [
    [],
    [0],
    [0, 0],
    [0, 0, 0],
    [0, 0, 0, 0],
    new Array(8).fill(0),
    new Array(16).fill(0),
    [0x40, 0x0b],
    [0x40],
    [0x70],
    [1, 0x7f],
  ];
  const heads = [
    ...Array.from({ length: 256 }, (_, opcode) => [opcode]),
    ...[
      [0xfb, 0x30],
      [0xfc, 0x20],
      [0xfd, 0x120],
      [0xfe, 0x50],
    ].flatMap(([prefix, count]) =>
      Array.from({ length: count! }, (_, second) => [prefix!, ...new Writer().u32(second).view()]),
    ),
  ];

  test("is metered or refused by name, and the metered module validates", () => {
    let accepted = 0;
    for (const head of heads) {
      for (const immediate of immediates) {
        // Behind `unreachable` operands of any type are there.
        const bytes = moduleOf([0x00, ...head, ...immediate, 0x00]);
        if (!wasm.validate(bytes)) continue;
        const refused = refusal(bytes);
        if (refused === undefined) accepted++;
        else expect([head, refused.code]).toEqual([head, "AIRLOCK_METER_UNSUPPORTED"]);
      }
    }
    // Less would mean that the table lost some: 172 plain, 236 SIMD and 18 bulk instructions at least.
    expect(accepted).toBeGreaterThan(420);
  });
});

describe("a reserved name is refused", () => {
  test.each([
    ['(module (import "$airlock" "fuel" (global (mut i64))))', "$airlock"],
    ['(module (import "$airlock/x" "y" (func)))', "$airlock/x"],
    ['(module (func (export "$airlock")))', "$airlock"],
    ['(module (global (export "$airlock.fuel") i32 (i32.const 0)))', "$airlock.fuel"],
  ])("%s", async (text, name) => {
    expect(await refusalOf(text)).toMatchObject({ code: "AIRLOCK_METER_RESERVED_NAME", name });
  });

  test("though not one that only looks like it", async () => {
    expect(await refusalOf('(module (import "airlock" "$airlock" (func)) (func (export "fuel")))')).toBeUndefined();
  });
});

describe("an index just out of range is refused, as it would become the counter", () => {
  test.each([
    ["a local", [0x42, 0, 0x21, 0]],
    ["a global", [0x42, 0, 0x24, 1]],
    ["a function", [0x10, 1]],
    ["a type", [0x02, 1, 0x0b]],
  ])("%s", (_, body) => {
    expect(refusal(moduleOf(body))).toMatchObject({ code: "AIRLOCK_METER_MALFORMED" });
  });

  test("an exported global", async () => {
    const bytes = await assembleText('(module (global i32 (i32.const 0)) (export "g" (global 0)))');
    bytes[bytes.lastIndexOf(3) + 1] = 1;
    expect(wasm.validate(bytes)).toBe(false);
    expect(refusal(bytes)).toMatchObject({ code: "AIRLOCK_METER_MALFORMED" });
  });
});

describe("a module past a cap is refused", () => {
  test.each([
    ["bodyBytes", `(module (func ${"nop ".repeat(600)}))`, { caps: { bodyBytes: 500 } }],
    ["locals", `(module (func (param i32) (local ${"i64 ".repeat(2_000)})))`, {}],
    ["nesting", `(module (func ${"block ".repeat(1_001)} ${"end ".repeat(1_001)}))`, {}],
    ["functions", "(module (func) (func) (func))", { caps: { functions: 2 } }],
    ["branchTargets", `(module (func i32.const 0 br_table ${"0 ".repeat(8_194)}))`, {}],
    ["results", `(module (func (result ${"i32 ".repeat(17)}) unreachable))`, {}],
    ["results", `(module (tag (param ${"i32 ".repeat(17)})))`, {}],
    ["results", `(module (import "m" "t" (tag (param ${"i64 ".repeat(17)}))))`, {}],
    ["results", `(module (func unreachable block (param ${"i32 ".repeat(17)}) unreachable end))`, {}],
    ["memoryMaxPages", "(module (memory 11))", { memoryMaxPages: 10 }],
    ["memoryMaxPages", "(module (memory 16385))", {}],
    ["tableMaxElements", "(module (table 11 funcref))", { tableMaxElements: 10 }],
  ] as const)("%s", async (cap, text, options) => {
    expect(await refusalOf(text, options)).toMatchObject({ code: "AIRLOCK_METER_TOO_COMPLEX", cap });
  });

  test.each([
    ["results", `(module (func (param ${"i32 ".repeat(99)}) (result ${"i32 ".repeat(16)}) unreachable))`],
    ["nesting", `(module (func ${"block ".repeat(1_000)} ${"end ".repeat(1_000)}))`],
    ["locals", `(module (func (local ${"i64 ".repeat(2_000)})))`],
    ["branchTargets", `(module (func i32.const 0 br_table ${"0 ".repeat(8_193)}))`],
  ])("though not at it: %s", async (_, text) => {
    expect(await refusalOf(text)).toBeUndefined();
  });

  test("and so is one whose metered body is past the engine's limit", () => {
    // Each call of two bytes gets five more.
    const body = new Array(1_500_000).fill([0x10, 0]).flat() as number[];
    expect(refusal(moduleOf(body), { caps: { bodyBytes: 4_000_000 } })).toMatchObject({
      code: "AIRLOCK_METER_TOO_COMPLEX",
      cap: "bodyBytes",
    });
  });
});

describe("options", () => {
  test.each([
    ["an unknown option", { fuel: 1 }],
    ["an unknown cap", { caps: { tea: 1 } }],
    ["a negative cap", { caps: { locals: -1 } }],
    ["a fraction", { memoryMaxPages: 1.5 }],
    ["more pages than there are", { memoryMaxPages: 65_537 }],
    ["a free instruction", { schedule: { plain: 0 } }],
  ])("refuses %s", (_, options) => {
    expect(() => meter(moduleOf([]), options as MeterOptions)).toThrow(RangeError);
  });
});
