import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { isHostError } from "../errors/errors.ts";
import { createCounters, type MeterOptions, meter } from "./meter.ts";
import { aroundThrowing } from "./testing/exception-cases.ts";
import { assembleText, wasm } from "./testing/guest.ts";

const SAMPLE = `(module $sample
  (type $unit (func)) (import "host" "note" (func $note (param i32) (result i32))) (import "host" "g" (global $ig i32))
  (memory 1 4) (table $t 4 funcref) (table $x 2 9 externref)
  (global $g (mut i64) (i64.const 9)) (global $h f64 (f64.const 1.5)) (export "g" (global $g)) (export "m" (memory 0))
  (start $start) (elem (i32.const 1) func $start) (elem $e func $start) (elem declare func $pair)
  (data (i32.const 8) "data") (data $d "passive")
  (func $start (local i32 i32) loop local.get 0 i32.const 1 i32.add local.tee 0 i32.const 9 i32.lt_u br_if 0 end)
  (func $pair (param $p i32) (result i32 i64)
    block block block local.get $p br_table 0 1 2 end local.get $p call $note drop end
    local.get $p if i32.const 3 i64.const 4 return end end
    i32.const 1 memory.grow drop ref.null extern i32.const 1 table.grow $x drop global.get $g global.set $g
    i32.const 0 i32.const 0 i32.const 4 memory.init $d i32.const 0 i32.const 0 i32.const 1 table.init $t $e
    v128.const i32x4 1 2 3 4 i32x4.extract_lane 2 i64.const 7)
  (func (export "run") (result i32) i32.const 1 call $pair drop))`;

let sample: Uint8Array;

beforeAll(async () => {
  sample = await assembleText(SAMPLE);
});

/** Meters bytes that may be anything: the answer is valid Wasm or a typed refusal. */
function outcome(bytes: Uint8Array, options?: MeterOptions): "metered" | "refused" {
  try {
    const metered = meter(bytes, options);
    expect(wasm.validate(metered.bytes)).toBe(true);
    runBriefly(metered.bytes);
    return "metered";
  } catch (error) {
    if (isHostError(error) && error.message.startsWith("Cannot meter core module")) return "refused";
    throw error;
  }
}

/** Whatever it does, it does not do it for long. */
function runBriefly(bytes: Uint8Array): void {
  const counters = createCounters({ fuel: 100_000, pages: 3, elements: 10 });
  const imports = { $airlock: counters, host: { note: () => 0, g: 1 } };
  try {
    const { exports } = new wasm.Instance(new wasm.Module(bytes), imports);
    (exports["run"] as () => void)();
  } catch {
    // A trap, an import that is now called otherwise, or no such export.
  }
}

function codeOf(bytes: Uint8Array): string | undefined {
  try {
    meter(bytes);
    return undefined;
  } catch (error) {
    return (error as { code?: string }).code;
  }
}

const PREAMBLE = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];

describe("hostile bytes", () => {
  test("the sample is metered", () => {
    expect(outcome(sample)).toBe("metered");
  });

  test("a module cut off anywhere is refused, unless it ends between sections", () => {
    let whole = 0;
    for (let length = 0; length < sample.length; length++) {
      if (wasm.validate(sample.subarray(0, length))) whole++;
      else expect(outcome(sample.subarray(0, length))).toBe("refused");
    }
    expect(whole).toBeLessThan(12);
  });

  test.each([
    ["nothing at all", []],
    ["a wrong magic number", [0, 0x61, 0x73, 0x6e, 1, 0, 0, 0]],
    ["a component", [0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0]],
    ["an over-long size", [...PREAMBLE, 1, 0x80, 0x80, 0x80, 0x80, 0x80, 0]],
    ["a size past the end", [...PREAMBLE, 1, 0xff, 0xff, 0xff, 0xff, 0x0f]],
    ["a huge count of types", [...PREAMBLE, 1, 5, 0xff, 0xff, 0xff, 0xff, 0x0f]],
    ["a huge count of imports", [...PREAMBLE, 2, 5, 0xff, 0xff, 0xff, 0xff, 0x0f]],
    ["a huge count of functions", [...PREAMBLE, 3, 5, 0xff, 0xff, 0xff, 0xff, 0x0f]],
    ["a huge count of segments", [...PREAMBLE, 9, 5, 0xff, 0xff, 0xff, 0xff, 0x0f]],
    ["a huge count of bodies", [...PREAMBLE, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 10, 5, 0xff, 0xff, 0xff, 0xff, 0x0f]],
    ["functions without bodies", [...PREAMBLE, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0]],
    ["a name that is not UTF-8", [...PREAMBLE, 2, 6, 1, 1, 0xff, 1, 0x61, 0]],
    ["bytes behind a section's content", [...PREAMBLE, 1, 5, 1, 0x60, 0, 0, 0]],
  ])("%s is malformed", (_, bytes) => {
    expect(codeOf(Uint8Array.from(bytes))).toBe("AIRLOCK_METER_MALFORMED");
  });

  test("2^32 locals in ten bytes are refused before anything is allocated for them", () => {
    const locals = [2, 0xff, 0xff, 0xff, 0xff, 0x07, 0x7f, 0xff, 0xff, 0xff, 0xff, 0x07, 0x7f, 0x0b];
    const bytes = [...PREAMBLE, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 10, 2 + locals.length, 1, locals.length, ...locals];
    expect(outcome(Uint8Array.from(bytes))).toBe("refused");
  });

  test("a malformed module's offset is where it stops making sense", () => {
    const bytes = [...PREAMBLE, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 10, 6, 1, 4, 0, 0x41, 0xff, 0x80];
    try {
      meter(Uint8Array.from(bytes));
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ code: "AIRLOCK_METER_MALFORMED", details: { offset: 26 } });
    }
  });

  test("bytes changed at random are refused, or metered to something valid that ends", () => {
    const outcomes = { metered: 0, refused: 0 };
    const change = fc.record({ at: fc.nat(), byte: fc.integer({ min: 0, max: 255 }) });
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
        const bytes = sample.slice();
        for (const { at, byte } of changes) bytes[at % bytes.length] = byte;
        outcomes[outcome(bytes)]++;
      }),
      { numRuns: 1_000, seed: 3 },
    );
    expect(outcomes.metered).toBeGreaterThan(30);
    expect(outcomes.refused).toBeGreaterThan(30);
  });

  test("so are those of a module with handlers, in either variant of call depth", async () => {
    const text =
      aroundThrowing(`loop try try call $middle i32.const 3 call $note drop delegate 0 catch $t i32.const 1 drop
      catch_all try local.get $i br_if 1 throw $t catch $p drop drop catch_all rethrow 1 end end
      local.get $i i32.const 1 i32.add local.tee $i i32.const 5 i32.lt_u br_if 0 end`);
    const bytes = await assembleText(text);
    expect(outcome(bytes)).toBe("metered");
    const change = fc.record({ at: fc.nat(), byte: fc.integer({ min: 0, max: 255 }) });
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), fc.boolean(), (changes, callDepth) => {
        const changed = bytes.slice();
        for (const { at, byte } of changes) changed[at % changed.length] = byte;
        outcome(changed, { callDepth });
      }),
      { numRuns: 1_000, seed: 4 },
    );
  });

  test("many br_tables that disagree cost one more scan, not one each", async () => {
    const tables = Array.from(
      { length: 300 },
      () => "block block nop local.get 0 br_if 0 local.get 0 br_table 0 1 2 end end",
    );
    const bytes = await assembleText(`(module (func (param i32) block ${tables.join(" ")} end))`);
    const { report } = meter(bytes);
    expect(report.functions).toMatchObject({ cached: 1, rescanned: 1 });
  });

  test("shared bytes are copied before they are checked", () => {
    const shared = new Uint8Array(new SharedArrayBuffer(sample.length));
    shared.set(sample);
    expect(meter(shared).bytes).toEqual(meter(sample).bytes);
  });
});
