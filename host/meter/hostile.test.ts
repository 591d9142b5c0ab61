import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { meter } from "./meter.ts";
import { assembleText, wasm } from "./testing/guest.ts";
import { hostileCases, hostileOrigins } from "./testing/hostile-cases.ts";
import { type HostileOutcome, hostileOutcome } from "./testing/hostile-outcome.ts";
import { SAMPLE, THROWING_SAMPLE } from "./testing/hostile-sample.ts";
import { byteChanges, mutate } from "./testing/mutation.ts";

let sample: Uint8Array;

beforeAll(async () => {
  sample = await assembleText(SAMPLE);
});

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
  test("the sample is metered and does what it did", () => {
    expect(hostileOutcome(sample)).toBe("compared");
  });

  test("a module cut off anywhere is refused, unless it ends between sections", () => {
    let whole = 0;
    for (let length = 0; length < sample.length; length++) {
      if (wasm.validate(sample.subarray(0, length))) whole++;
      else expect(hostileOutcome(sample.subarray(0, length))).toBe("refused");
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
    expect(hostileOutcome(Uint8Array.from(bytes))).toBe("refused");
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

  test("modules changed at random are refused, or metered to what does the same and uses the fuel of the naive meter", async () => {
    const outcomes: Record<HostileOutcome, number> = { refused: 0, metered: 0, spent: 0, compared: 0 };
    const cases = hostileCases(await hostileOrigins(), 3, 0);
    for (let number = 0; number < 2_000; number++) {
      const { bytes, callDepth } = cases.next().value!;
      try {
        outcomes[hostileOutcome(bytes, { callDepth })]++;
      } catch (error) {
        throw new Error(`Case ${number} of seed 3 (callDepth ${callDepth})`, { cause: error });
      }
    }
    const { refused, metered, spent, compared } = outcomes;
    expect(spent + compared).toBeGreaterThan(1_000);
    expect(spent).toBeGreaterThan(40);
    expect(refused).toBeGreaterThan(400);
    expect(metered).toBeLessThan(100);
  });

  test("so are those of a module with handlers, in either variant of call depth", async () => {
    const bytes = await assembleText(THROWING_SAMPLE);
    expect(hostileOutcome(bytes)).toBe("compared");
    fc.assert(
      fc.property(byteChanges, fc.boolean(), (changes, callDepth) => {
        hostileOutcome(mutate(bytes, changes), { callDepth });
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
