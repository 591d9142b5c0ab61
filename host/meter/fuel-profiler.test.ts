import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { assembleText, instantiateBytes } from "./testing/guest.ts";
import { framesOf, profileBytes, profileText } from "./testing/profiled-guest.ts";
import { toText } from "./testing/program.ts";
import { programsWith } from "./testing/random-program.ts";

describe("a profile", () => {
  test("of a recursion counts each call, and in total the outermost", async () => {
    const { profile, used } = await profileText(
      `(module
      (func $fib (export "run") (param i32) (result i32)
        local.get 0 i32.const 2 i32.lt_u if (result i32) local.get 0 else
        local.get 0 i32.const 1 i32.sub call $fib local.get 0 i32.const 2 i32.sub call $fib i32.add end))`,
      {
        parameters: [5],
      },
    );
    // 8 calls that end at once, 7 that call twice.
    expect(used).toBe(8 * 5 + 7 * (4 + 3 + 8 + 3 + 8 + 1));
    expect(framesOf(profile)).toEqual({ fib: [used, used, 15] });
  });
});

describe("a profile of a random program", () => {
  test.each(["none", "legacy"] as const)("has the fuel of the plain build, with exceptions: %s", async (exceptions) => {
    await fc.assert(
      fc.asyncProperty(programsWith(exceptions), fc.integer(), fc.nat({ max: 3_000 }), async (program, first, fuel) => {
        const bytes = await assembleText(toText(program));
        const parameters = [first, 3];
        const note = (value: number): number => (value + 1) | 0;
        for (const budget of [1_000_000, fuel]) {
          const plain = instantiateBytes(bytes, { budget: { fuel: budget }, imports: { host: { note } } });
          const { trapped, used } = plain.call("run", ...parameters);
          const imports = () => ({ host: { note } });
          const profiled = profileBytes([bytes], { fuel: budget, imports, parameters });
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
