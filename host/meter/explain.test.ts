import { describe, expect, test } from "vitest";
import { type Explained, explain, type FunctionReport, meter } from "./meter.ts";
import { assembleText } from "./testing/guest.ts";

async function explained(text: string): Promise<Explained> {
  return explain(await assembleText(text));
}

async function functionsOf(text: string): Promise<readonly FunctionReport[]> {
  return (await explained(text)).functions();
}

const MODES = `(module (import "host" "note" (func $note (param i32)))
  (func $nothing (export "nothing"))
  (func $leaf (param i32) (result i32) local.get 0 i32.const 1 i32.add)
  (func $line (export "line") i32.const 1 call $leaf call $note)
  (func $round (export "round") (local i32) loop local.get 0 call $leaf local.tee 0 i32.const 9 i32.lt_u br_if 0 end)
  (func $fill (export "fill") (local ${"i64 ".repeat(40)})
    i32.const 0 i32.const 0 i32.const 9 memory.fill i32.const 1 memory.grow drop)
  (memory 1))`;

describe("explain()", () => {
  test("meters as meter() does", async () => {
    const bytes = await assembleText(MODES);
    const { functions, ...metered } = explain(bytes);
    expect(metered).toEqual(meter(bytes));
    const sums = functions().reduce(
      (sum, { charges, tests }) => ({ charges: sum.charges + charges, tests: sum.tests + tests }),
      { charges: 0, tests: 0 },
    );
    expect(sums).toEqual({ charges: metered.report.charges, tests: metered.report.tests });
  });

  test("tells of each function its index, name, mode and the price of its instructions", async () => {
    const functions = await functionsOf(MODES);
    expect(functions.map(({ index, name, mode, staticCost }) => [index, name, mode, staticCost])).toEqual([
      [1, "nothing", "free", 0],
      [2, "leaf", "leaf", 3],
      [3, "line", "direct", 1 + 8 + 3 + 150],
      [4, "round", "cached", 5 + 8 + 3],
      [5, "fill", "direct", 8 + 3 + 64 + 1 + 50_000],
    ]);
  });

  test("tells the size of each body before and after", async () => {
    for (const { mode, bytesIn, bytesOut } of await functionsOf(MODES)) {
      if (mode === "leaf" || mode === "free") expect(bytesOut).toBe(bytesIn);
      else expect(bytesOut).toBeGreaterThan(bytesIn);
    }
  });

  test("costs what a loop-free function costs when it is called", async () => {
    const [line] = await functionsOf('(module (func (export "f") (result i64) i64.const 7 i64.const 2 i64.div_u))');
    expect(line).toMatchObject({ mode: "direct", staticCost: 18, charges: 1, tests: 0 });
  });

  test("knows no names where there are none, or where they do not decode", async () => {
    const bytes = await assembleText('(module (func (export "f")))');
    const nameless = { name: null, index: 0 };
    expect(explain(bytes).functions()).toEqual([expect.objectContaining(nameless)]);
    for (const content of [
      [1, 9, 1],
      [1, 4, 1, 0, 1, 0xff],
      [1, 5, 0xff, 0xff, 0xff, 0xff, 0x0f],
    ]) {
      const section = [0, 5 + content.length, 4, ...Buffer.from("name"), ...content];
      expect(explain(Uint8Array.from([...bytes, ...section])).functions()).toEqual([expect.objectContaining(nameless)]);
    }
  });
});
