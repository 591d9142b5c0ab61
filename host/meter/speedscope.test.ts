import { describe, expect, test } from "vitest";
import { type FuelProfile, type Speedscope, speedscopeOf } from "./meter.ts";
import { profileText } from "./testing/profiled-guest.ts";

describe("speedscopeOf()", () => {
  test("is the tree of calls with fuel for time", async () => {
    const { profile } = await profileText(`(module
      (func $short (export "short") i32.const 1 drop)
      (func $long (export "long") ${"i32.const 1 drop ".repeat(100)} call $short)
      (func $never (export "never"))
      (func $main (export "run") call $short call $long call $never call $short))`);
    const file = speedscopeOf(profile, "a@1 run");
    const frame = (name: string) => file.shared.frames.findIndex((each) => each.name === name);
    const [host, main, short, long] = ["host", "main", "short", "long"].map(frame);
    expect(file).toMatchObject({
      $schema: "https://www.speedscope.app/file-format-schema.json",
      name: "a@1 run",
      shared: {
        frames: expect.arrayContaining([
          { name: "long", file: "m0" },
          { name: "host", file: "host" },
        ]),
      },
      profiles: [{ type: "evented", unit: "none", startValue: 0, endValue: profile.fuel }],
    });
    expect(file.profiles[0].events).toEqual([
      { type: "O", frame: host, at: 0 },
      { type: "O", frame: main, at: 0 },
      { type: "O", frame: short, at: 0 },
      { type: "C", frame: short, at: 2 },
      { type: "O", frame: long, at: 2 },
      { type: "O", frame: short, at: 2 },
      { type: "C", frame: short, at: 3 },
      { type: "C", frame: long, at: 111 },
      { type: "C", frame: main, at: 143 },
      { type: "C", frame: host, at: 143 },
    ]);
  });

  test.each([
    [
      "a deep recursion",
      '(func $f (export "run") (param i32) local.get 0 if local.get 0 i32.const 1 i32.sub call $f end)',
    ],
    ["a trap", '(func $f unreachable) (func (export "run") (param i32) call $f)'],
    ["nothing", '(func (export "run") (param i32))'],
  ])("holds what the schema of the format and its readers ask, for %s", async (_, text) => {
    const { profile } = await profileText(`(module ${text})`, { parameters: [2_000] });
    expectReadable(speedscopeOf(profile, "name"), profile);
  });
});

/** What https://www.speedscope.app/file-format-schema.json and the importer of evented profiles ask. */
function expectReadable(file: Speedscope, { fuel }: FuelProfile): void {
  const read = JSON.parse(JSON.stringify(file)) as Speedscope;
  expect(read.profiles).toHaveLength(1);
  const [{ events, endValue, startValue }] = read.profiles;
  expect([startValue, endValue]).toEqual([0, fuel]);
  const open: number[] = [];
  const weights = new Map<number, number>();
  let last = 0;
  for (const { type, frame, at } of events) {
    expect(at).toBeGreaterThanOrEqual(last);
    const top = open.at(-1);
    if (top !== undefined) weights.set(top, (weights.get(top) ?? 0) + at - last);
    last = at;
    expect(read.shared.frames[frame]?.name).toEqual(expect.any(String));
    if (type === "O") open.push(frame);
    else expect(open.pop()).toBe(frame);
  }
  expect([open, last]).toEqual([[], fuel]);
  expect([...weights.values()].reduce((sum, weight) => sum + weight, 0)).toBe(fuel);
}
