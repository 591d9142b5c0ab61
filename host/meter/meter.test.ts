import { describe, expect, test } from "vitest";
import { Reader, splitSections, Writer } from "../binary/binary.ts";
import { FRAME_SLOTS, meter, scheduleId } from "./meter.ts";
import { assembleText, instantiate, wasm } from "./testing/guest.ts";

/** A custom section. */
function custom(name: string, content: readonly number[] = [1, 2, 3]): Uint8Array {
  return new Writer()
    .section(0, (inner) => inner.name(name).bytes(content))
    .view()
    .slice();
}

function customNames(bytes: Uint8Array): string[] {
  const sections = splitSections(bytes).filter(({ id }) => id === 0);
  return sections.map(({ start, end }) => new Reader(bytes, start, end).name());
}

describe("meter()", () => {
  test("is pure: the same bytes and options give the same output, and the input stays", async () => {
    const bytes = await assembleText("(module (memory 1) (func loop br 0 end))");
    const before = bytes.slice();
    expect(meter(bytes)).toEqual(meter(bytes));
    expect(bytes).toEqual(before);
  });

  test("gives a buffer of its own, also for a view into a larger one", async () => {
    const bytes = await assembleText("(module (func loop br 0 end))");
    const large = new Uint8Array(bytes.length + 20);
    large.set(bytes, 10);
    const { bytes: output } = meter(large.subarray(10, 10 + bytes.length));
    expect(output).toEqual(meter(bytes).bytes);
    expect(output.buffer.byteLength).toBe(output.length);
  });

  test("reports what the module is and what was done to it", async () => {
    const text = `(module (import "h" "m" (memory 2)) (import "h" "t" (table 5 externref))
      (table 3 7 funcref) (table 1 funcref) (start $free)
      (func $free) (func (export "direct") i32.const 1 drop) (func $leaf i32.const 1 drop) (func $cached (param i32) loop local.get 0 br_if 0 end))`;
    const bytes = await assembleText(text);
    const { bytes: output, report } = meter(bytes, { tableMaxElements: 100 });
    expect(report).toEqual({
      scheduleId: scheduleId(),
      bytesIn: bytes.length,
      bytesOut: output.length,
      functions: { defined: 4, free: 1, direct: 1, cached: 1, guarded: 0, leaf: 1, injected: 0, rescanned: 0 },
      charges: 2,
      tests: 1,
      imports: [{ module: "$airlock", name: "fuel", kind: "global", type: "i64", mutable: true }],
      memory: [{ imported: true, initialPages: 2, maximumPages: null }],
      tables: [
        { imported: true, initialElements: 5, maximumElements: null },
        { imported: false, initialElements: 3, maximumElements: 7 },
        { imported: false, initialElements: 1, maximumElements: 100 },
      ],
      reset: { kind: "possible", globals: [] },
      unwinds: false,
      hasStart: true,
      profiled: null,
    });
  });

  test("an empty module stays as it is", async () => {
    const bytes = await assembleText("(module)");
    expect(meter(bytes).bytes).toEqual(bytes);
  });

  test("a module's own globals are renumbered wherever they stand, imported ones are not", async () => {
    const text = `(module (import "h" "i" (global $i i32)) (import "h" "f" (func $f))
      (global $a (mut i32) (global.get $i)) (global $b (mut i32) (i32.const 20))
      ${Array.from({ length: 130 }, (_, n) => `(global $n${n} (mut i32) (i32.const ${n}))`).join(" ")}
      (memory 1) (data (global.get $i) "x") (table 20 funcref) (elem (global.get $i) $run)
      (export "a" (global $a)) (export "n129" (global $n129)) (export "i" (global $i))
      (func $run (export "run") (result i32) (local i32) call $f loop local.get 0 br_if 0 end
        global.get $i global.get $a i32.add global.get $b i32.add global.get $n129 i32.add
        i32.const 77 global.set $b return global.get $n129))`;
    const guest = await instantiate(text, { imports: { h: { i: 10, f: () => {} } } });
    expect(guest.call("run").result).toBe(10 + 10 + 20 + 129);
    const globals = guest.exports as Record<string, { value: number }>;
    expect([globals["a"]!.value, globals["n129"]!.value, globals["i"]!.value]).toEqual([10, 129, 10]);
  });

  test("custom sections that hold offsets are dropped, others are kept in place", async () => {
    const plain = await assembleText("(module (func))");
    const stale = [".debug_info", "reloc.CODE", "linking", "sourceMappingURL", "metadata.code.branch_hint"];
    const kept = ["producers", "target_features", "dylink.0", "debug"];
    const sections = [...stale, ...kept].flatMap((name) => [...custom(name)]);
    expect(customNames(meter(Uint8Array.from([...plain, ...sections])).bytes)).toEqual(kept);
  });

  test("the name section keeps functions, locals and renumbered globals, and loses labels", async () => {
    const bytes = await assembleText(
      '(module $m (import "h" "i" (global $i i32)) (global $g i32 (i32.const 1)) (func $f (param $p i32) (block $l)) (func $h loop br 0 end))',
    );
    const content = wasm.Module.customSections(new wasm.Module(meter(bytes).bytes), "name")[0]!;
    const reader = new Reader(new Uint8Array(content));
    const subsections = new Map<number, number[]>();
    while (!reader.atEnd) subsections.set(reader.byte(), [...reader.span()]);
    expect([...subsections.keys()]).toEqual([0, 1, 2, 7]);
    expect(subsections.get(7)).toEqual([2, 0, 1, 105, 2, 1, 103]);
  });

  test("a name section that does not decode is dropped", async () => {
    const bytes = await assembleText("(module (func loop br 0 end))");
    const output = meter(Uint8Array.from([...bytes, ...custom("name", [7, 99, 1])])).bytes;
    expect(customNames(output)).toEqual([]);
  });
});

describe("callDepth", () => {
  const text = `(module (type $t (func (param i32) (result i32))) (table funcref (elem $down))
    (func $leaf (param i32 i64))
    (func $down (export "down") (param i32) (result i32) (local i64)
      local.get 0 i32.eqz if i32.const 7 return end
      local.get 0 i32.const 1 i32.sub call $down)
    (func (export "indirect") (param i32) (result i32) local.get 0 i32.const 0 call_indirect (type $t))
    (func $odd (param i32) (result i32) local.get 0 i32.eqz if (result i32) i32.const 1 else local.get 0 i32.const 1 i32.sub return_call $even end)
    (func $even (export "even") (param i32) (result i32) local.get 0 i32.eqz if i32.const 0 return end local.get 0 i32.const 1 i32.sub return_call $odd)
    (func (export "leaf") i32.const 1 i64.const 2 call $leaf))`;
  const frame = FRAME_SLOTS + 4;

  test("a recursion within the limit gives back what it took", async () => {
    const guest = await instantiate(text, { options: { callDepth: true }, budget: { depth: 100 * frame } });
    expect(guest.call("down", 99)).toMatchObject({ result: 7, trapped: false });
    expect(guest.counters.depth.value).toBe(BigInt(100 * frame));
  });

  test("one frame more traps with the counter negative and fuel left", async () => {
    const guest = await instantiate(text, { options: { callDepth: true }, budget: { depth: 100 * frame } });
    expect(guest.call("down", 100).trapped).toBe(true);
    expect(guest.counters.depth.value).toBe(BigInt(-frame));
    expect(guest.counters.fuel.value).toBeGreaterThan(0n);
  });

  test("frames count their parameters, locals and operands, leaves too", async () => {
    // "leaf" takes 8 slots and 2 operands, the leaf 8 and 2 parameters.
    const run = async (depth: number) =>
      (await instantiate(text, { options: { callDepth: true }, budget: { depth } })).call("leaf").trapped;
    expect([await run(20), await run(19)]).toEqual([false, true]);
  });

  test("a tail call gives its frame back first", async () => {
    const guest = await instantiate(text, { options: { callDepth: true }, budget: { depth: 20 } });
    expect(guest.call("even", 10_000)).toMatchObject({ result: 0, trapped: false });
    expect(guest.counters.depth.value).toBe(20n);
  });

  test("does not change what is burnt", async () => {
    const plain = await instantiate(text);
    const deep = await instantiate(text, { options: { callDepth: true } });
    for (const [name, parameter] of [
      ["down", 50],
      ["indirect", 9],
      ["even", 33],
    ] as const) {
      expect(deep.call(name, parameter)).toEqual(plain.call(name, parameter));
    }
  });
});
