import { describe, expect, test } from "vitest";
import { createCounters, FuelProfiler, meter } from "./meter.ts";
import { assembleText, instantiate } from "./testing/guest.ts";

const COUNTER = `(module (import "h" "g" (global (mut i32))) (global $c i32 (i32.const 1)) (global $small (mut i32) (i32.const 7))
  (global $large (mut i64) (i64.const -1)) (memory (export "memory") 1)
  (export "small" (global $small))
  (func (export "run") (result i32)
    (global.set $small (i32.add (global.get $small) (global.get $c)))
    (global.set $large (i64.add (global.get $large) (i64.const 1)))
    (i32.add (global.get $small) (i32.wrap_i64 (global.get $large)))))`;

async function resetOf(text: string): Promise<unknown> {
  return meter(await assembleText(text), { resettable: true }).report.reset;
}

describe("a resettable module", () => {
  test("gives out its mutable globals, through which an instance is put back", async () => {
    const imports = { h: { g: new WebAssembly.Global({ value: "i32", mutable: true }, 0) } };
    const guest = await instantiate(COUNTER, { options: { resettable: true }, imports });
    expect(guest.report.reset).toEqual({
      kind: "possible",
      globals: ["$airlock:global:1", "$airlock:global:2"],
    });
    const { globals } = guest.report.reset as { globals: readonly string[] };
    const own = globals.map((name) => guest.exports[name] as WebAssembly.Global);
    const values = own.map(({ value }) => value);
    expect(values).toEqual([7, -1n]);
    const first = guest.call("run");
    expect(guest.call("run")).not.toEqual(first);
    for (const [index, global] of own.entries()) global.value = values[index] as never;
    expect(guest.call("run")).toEqual(first);
  });

  test("burns the fuel that it burns otherwise", async () => {
    const imports = { h: { g: new WebAssembly.Global({ value: "i32", mutable: true }, 0) } };
    const plain = await instantiate(COUNTER, { imports });
    const resettable = await instantiate(COUNTER, { options: { resettable: true }, imports });
    expect(Object.keys(plain.exports)).toEqual(["memory", "small", "run"]);
    expect(resettable.call("run")).toEqual(plain.call("run"));
  });

  test("may be profiled as well: what is added moves the globals that it gives out", async () => {
    const bytes = await assembleText(COUNTER);
    const { bytes: metered, report } = meter(bytes, { resettable: true, profile: true });
    const module = { name: "m", functions: report.profiled };
    const profiler = new FuelProfiler([module]);
    profiler.begin("run", 1_000);
    const g = new WebAssembly.Global({ value: "i32", mutable: true }, 0);
    const counters = createCounters({ fuel: 1_000, pages: 1, elements: 0 });
    const $airlock = { ...counters, ...profiler.importsOf(module) };
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(metered), { h: { g }, $airlock });
    const { globals } = report.reset as { globals: readonly string[] };
    expect(globals.map((name) => (exports[name] as WebAssembly.Global).value)).toEqual([7, -1n]);
  });

  test.each([
    ["table.set", "(table 1 funcref) (func i32.const 0 ref.null func table.set 0)"],
    ["table.grow", "(table 1 funcref) (func ref.null func i32.const 1 table.grow 0 drop)"],
    ["table.fill", "(table 1 funcref) (func i32.const 0 ref.null func i32.const 1 table.fill 0)"],
    ["table.copy", "(table 1 funcref) (func i32.const 0 i32.const 0 i32.const 1 table.copy 0 0)"],
    ["table.init", "(table 1 funcref) (elem $e func) (func i32.const 0 i32.const 0 i32.const 0 table.init 0 $e)"],
    ["elem.drop", "(elem $e func) (func elem.drop $e)"],
    ["memory.init", '(memory 1) (data $d "a") (func i32.const 0 i32.const 0 i32.const 1 memory.init $d)'],
    ["data.drop", '(memory 1) (data $d "a") (func data.drop $d)'],
    ["exceptions", "(func try catch_all end)"],
    ["mutable global 0, which is no integer", "(global (mut funcref) (ref.null func))"],
    ["mutable global 1, which is no integer", "(global (mut i32) (i32.const 0)) (global (mut f64) (f64.const 0))"],
    ["mutable global 0, which is no integer", "(global (mut v128) (v128.const i64x2 0 0))"],
    ["mutable globals, and it exports nothing", "(global (mut i32) (i32.const 0))"],
  ])("is none that has %s", async (why, body) => {
    expect(await resetOf(`(module ${body})`)).toEqual({ kind: "impossible", why });
  });

  test("is left as it is where putting it back would not undo all", async () => {
    const bytes = await assembleText(
      COUNTER.replace("(memory", "(table 1 funcref) (func (table.set 0 (i32.const 0) (ref.null func))) (memory"),
    );
    expect(meter(bytes, { resettable: true }).bytes).toEqual(meter(bytes).bytes);
  });

  test.each([
    [
      "segments that instantiation copies",
      '(memory 1) (data (i32.const 0) "a") (table 1 funcref) (elem (i32.const 0) func)',
    ],
    ["growth of memory, which shows in its size", "(memory 1 4) (func i32.const 1 memory.grow drop)"],
    ["immutable globals of any type", "(global funcref (ref.null func)) (global f64 (f64.const 0))"],
    [
      "copies and fills of memory",
      "(memory 1) (func i32.const 0 i32.const 0 i32.const 1 memory.copy i32.const 0 i32.const 0 i32.const 1 memory.fill)",
    ],
  ])("may have %s", async (_, body) => {
    expect(await resetOf(`(module ${body})`)).toEqual({ kind: "possible", globals: [] });
  });
});
