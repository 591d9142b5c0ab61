import { setFlagsFromString } from "node:v8";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { FuelProfiler } from "./meter.ts";
import { assembleText, instantiateBytes } from "./testing/guest.ts";
import { contextsOf, framesOf, profileBytes, profileText } from "./testing/profiled-guest.ts";
import { toText } from "./testing/program.ts";
import { programsWith } from "./testing/random-program.ts";

/** Three units a time. */
const units = (count: number): string => "i32.const 1 i32.const 1 i32.add drop ".repeat(count / 3);

describe("a profile", () => {
  test("of a recursion counts each call, and in total the outermost", async () => {
    const fib = `(module
      (func $fib (export "run") (param i32) (result i32)
        local.get 0 i32.const 2 i32.lt_u if (result i32) local.get 0 else
        local.get 0 i32.const 1 i32.sub call $fib local.get 0 i32.const 2 i32.sub call $fib i32.add end))`;
    const { profile, used } = await profileText(fib, { parameters: [5] });
    // 8 calls that end at once, 7 that call twice.
    expect(used).toBe(8 * 5 + 7 * (4 + 3 + 8 + 3 + 8 + 1));
    expect(framesOf(profile)).toEqual({ fib: [used, used, 15] });
    expect(contextsOf(profile)).toMatchObject({ "": [0, 0], fib: [4 + 3 + 8 + 3 + 8 + 1, 1], "fib/fib": [54, 2] });
  });

  test("of a loop that calls two functions gives each its own, and the calls to the caller", async () => {
    const { profile, used } = await profileText(`(module
      (func $short (export "short") ${units(9)})
      (func $long (export "long") ${units(300)} call $short)
      (func $idle (export "idle"))
      (func $main (export "run") (local $i i32)
        loop call $short call $long call $idle
          local.get $i i32.const 1 i32.add local.tee $i i32.const 10 i32.lt_u br_if 0 end))`);
    const main = 10 * (3 * 8 + 7);
    expect(used).toBe(main + 10 * (300 + 8) + 20 * 9);
    expect(framesOf(profile)).toEqual({
      long: [10 * 308, 10 * 317, 10],
      main: [main, used, 1],
      short: [20 * 9, 20 * 9, 20],
      idle: [0, 0, 10],
    });
    expect(contextsOf(profile)).toEqual({
      "": [0, 0],
      main: [main, 1],
      "main/short": [90, 10],
      "main/long": [3080, 10],
      "main/long/short": [90, 10],
      "main/idle": [0, 10],
    });
  });

  test("gives leaves what their callers pay for them, called directly or through a table", async () => {
    const { profile, used } = await profileText(`(module
      (type $unit (func)) (table funcref (elem $outer))
      (func $inner ${units(6)})
      (func $outer call $inner ${units(3)})
      (func $main (export "run") call $outer call $inner i32.const 0 call_indirect (type $unit)))`);
    // What an indirect call pays for a leaf beyond the cost of this one stays with the caller.
    const main = 8 + 8 + 1 + 16 + (40 - 17);
    expect(used).toBe(main + 17 + 6 + 17);
    expect(framesOf(profile)).toEqual({ main: [main, used, 1], outer: [22, 34, 2], inner: [18, 18, 3] });
  });

  test("of a trap ends with it, and takes from leaves what was never paid", async () => {
    const { profile, used, trapped } = await profileText(`(module
      (func $leaf ${units(30)})
      (func $deep (export "deep") ${units(99)} call $leaf i32.const 1 i32.const 0 i32.div_u drop)
      (func $main (export "run") (local $i i32) ${units(300)} call $deep
        loop local.get $i i32.const 1 i32.add local.tee $i i32.const 10 i32.lt_u br_if 0 end))`);
    expect(trapped).toBe(true);
    expect(framesOf(profile)).toEqual({
      main: [308, used, 1],
      deep: [99 + 8 + 18, 99 + 8 + 18 + 30, 1],
      leaf: [30, 30, 1],
    });
    const unpaid = await profileText(`(module
      (func $leaf ${units(30)})
      (func $main (export "run") (local $i i32) call $leaf i32.const 1 i32.const 0 i32.div_u drop
        loop local.get $i i32.const 1 i32.add local.tee $i i32.const 10 i32.lt_u br_if 0 end))`);
    expect(unpaid).toMatchObject({ trapped: true, used: 0, profile: { fuel: 0 } });
    expect(framesOf(unpaid.profile)).toEqual({ main: [0, 0, 1], leaf: [0, 0, 1] });
  });

  test("of a run out of fuel adds up to the fuel there was", async () => {
    const { profile, used, trapped } = await profileText(
      `(module
      (func $spin (export "spin") loop ${units(9)} br 0 end)
      (func $main (export "run") ${units(300)} call $spin))`,
      { fuel: 1_000_000 },
    );
    expect({ trapped, used }).toEqual({ trapped: true, used: 1_000_000 });
    expect(framesOf(profile)).toEqual({ spin: [999_692, 999_692, 1], main: [308, 1_000_000, 1] });
  });

  test("of a tail call ends the caller, which has paid for a leaf", async () => {
    // Behind a flag on Node 20.
    setFlagsFromString("--experimental-wasm-return-call");
    const { profile, used } = await profileText(`(module
      (func $leaf ${units(30)})
      (func $last (export "last") ${units(90)} return_call $leaf)
      (func $first (export "first") ${units(60)} return_call $last)
      (func $main (export "run") call $first ${units(3)}))`);
    expect(used).toBe(8 + 60 + 8 + 90 + 8 + 30 + 3);
    expect(framesOf(profile)).toEqual({
      last: [98, 128, 1],
      first: [68, 68, 1],
      leaf: [30, 30, 1],
      main: [11, used, 1],
    });
    expect(Object.keys(contextsOf(profile))).toEqual(["", "main", "main/first", "main/last", "main/leaf"]);
  });

  test("of an exception goes on in the frame that catches it", async () => {
    const { profile, used } = await profileText(`(module (tag $t)
      (func $throw (export "throw") throw $t)
      (func $middle (export "middle") ${units(30)} call $throw)
      (func $after (export "after") ${units(60)})
      (func $main (export "run") try call $middle catch_all call $after end ${units(3)}))`);
    // Two frames are unwound, each at its caller's cost.
    expect(framesOf(profile)).toEqual({
      throw: [10_000, 10_000, 1],
      middle: [30 + 8 + 6_000, 16_038, 1],
      main: [8 + 6_000 + 8 + 3, used, 1],
      after: [60, 60, 1],
    });
    expect(Object.keys(contextsOf(profile))).toContain("main/after");
  });

  test("gives what the host charges to the import that was called, and what it lifted before", async () => {
    const imports = (profiler: FuelProfiler, counters: { fuel: { value: bigint } }) => ({
      host: {
        find() {
          const charge = (amount: number) => {
            counters.fuel.value -= BigInt(amount);
          };
          charge(70);
          profiler.lift(70);
          profiler.enterImport("acme:crm/lookup#find", Number(counters.fuel.value));
          charge(2_000);
          profiler.leaveImport(Number(counters.fuel.value));
        },
      },
    });
    const text = `(module (import "host" "find" (func $find)) (func $main (export "run") call $find call $find))`;
    const { profile, used } = await profileText(text, { imports });
    expect(framesOf(profile)).toEqual({ "acme:crm/lookup#find": [4_140, 4_140, 2], main: [300, used, 1] });
    expect(profile.frames[0]).toMatchObject({ kind: "import", module: null, index: null });
  });

  test("names functions by name section, export or index, and by module where that is not enough", async () => {
    const { profile } = await profileText([
      `(module (func $same (export "same") ${units(3)}) (func (export "exported") ${units(3)}))`,
      `(module (import "m0" "same" (func $other)) (import "m0" "exported" (func $exported))
        (func $same (export "same") ${units(6)}) (func (export "run") call $other call $same call $exported call 5)
        (func (param i32) local.get 0 drop) (func ${units(60)}))`,
    ]);
    expect(profile.frames.map(({ name, module: where, index }) => [name, where, index])).toEqual([
      ["run", "m1", 3],
      ["func 5", "m1", 5],
      ["core m1: same", "m1", 2],
      ["core m0: same", "m0", 0],
      ["exported", "m0", 1],
      ["host", null, null],
    ]);
  });

  test("of a deep recursion keeps a tree of bounded depth and counts what was folded", async () => {
    const down = `(module (func $down (export "run") (param i32)
      local.get 0 i32.eqz br_if 0 local.get 0 i32.const 1 i32.sub call $down))`;
    const { profile, used } = await profileText(down, { parameters: [5_000] });
    expect(framesOf(profile)).toEqual({ down: [used, used, 5_001] });
    expect([profile.contexts.length, profile.folded]).toEqual([513, 5_001 - 512]);
    expect(profile.contexts.reduce((sum, { self }) => sum + self, 0)).toBe(used);
  });

  test("of more contexts than a tree holds folds the rest into their callers", async () => {
    const half = (name: string, more: string): string => `(func $${name} ${more} (param i32)
      local.get 0 i32.eqz br_if 0
      local.get 0 i32.const 1 i32.sub call $f local.get 0 i32.const 1 i32.sub call $g)`;
    const { profile, used } = await profileText(`(module ${half("f", '(export "run")')} ${half("g", "")})`, {
      parameters: [16],
    });
    expect(profile.contexts).toHaveLength(65_536);
    expect(profile.folded).toBe(2 ** 17 - 1 - 65_535);
    expect(profile.contexts.reduce((sum, { calls }) => sum + calls, profile.folded)).toBe(2 ** 17 - 1);
    expect(profile.frames.map(({ calls }) => calls)).toEqual([2 ** 16, 2 ** 16 - 1, 0]);
    expect(profile.contexts.reduce((sum, { self }) => sum + self, 0)).toBe(used);
  });
});

describe("a profile of a random program", () => {
  test.each(["none", "legacy"] as const)("has the fuel of the plain build, with exceptions: %s", async (exceptions) => {
    await fc.assert(
      fc.asyncProperty(programsWith(exceptions), fc.integer(), fc.nat({ max: 3_000 }), async (program, first, fuel) => {
        const bytes = await assembleText(toText(program));
        const parameters = [first, 3];
        const note = (value: number): number => (value + 1) | 0;
        for (const [budget, exact] of [
          [1_000_000, false],
          [1_000_000, true],
          [fuel, false],
        ] as const) {
          const options = { callDepth: exact, canonicalNan: exact };
          const plain = instantiateBytes(bytes, { options, budget: { fuel: budget }, imports: { host: { note } } });
          const { trapped, used } = plain.call("run", ...parameters);
          const imports = () => ({ host: { note } });
          const profiled = profileBytes([bytes], { options, fuel: budget, imports, parameters });
          expect(profiled).toMatchObject({ trapped, used: Math.min(budget, used), profile: { fuel: profiled.used } });
          const { frames, contexts } = profiled.profile;
          const sum = (values: readonly { readonly self: number }[]) => values.reduce((all, { self }) => all + self, 0);
          expect([sum(frames), sum(contexts)]).toEqual([profiled.used, profiled.used]);
          expect([...frames, ...contexts].every(({ self }) => self >= 0)).toBe(true);
          expect(frames.every(({ self, total }) => total >= self)).toBe(true);
        }
      }),
      { numRuns: 100, seed: 9 },
    );
  });
});
