import { describe, expect, test } from "vitest";
import { SCHEDULE, type Schedule, scheduleId } from "./meter.ts";
import { around, CASES } from "./testing/fuel-cases.ts";
import { instantiate } from "./testing/guest.ts";

describe("fuel used by a body", () => {
  test.each(CASES)("%s", async (_, body, fuel) => {
    const guest = await instantiate(around(body), { imports: { host: { note: () => {} } } });
    expect(guest.call("run")).toEqual({ result: undefined, trapped: false, used: fuel });
  });

  test("a function that returns several values keeps them on every exit", async () => {
    const body = "local.get $i if i32.const 1 i32.const 2 return end loop (result i32 i64) i32.const 3 i64.const 4 end";
    const text = around(body.replace("i32.const 1 i32.const 2", "i32.const 1 i64.const 2"), "(result i32 i64)");
    const guest = await instantiate(text, { imports: { host: { note: () => {} } } });
    expect(guest.call("run")).toEqual({ result: [3, 4n], trapped: false, used: 4 });
  });

  test("a loop and a block with parameters keep their operands", async () => {
    const body = `i32.const 5 i32.const 1 loop (param i32 i32) (result i32)
      local.set $x i32.const 1 i32.sub local.get $x i32.const 2 i32.mul local.set $x local.tee $i
      local.get $x local.get $i br_if 0 i32.add end
      block (param i32) (result i32) i32.const 100 i32.add end`;
    const guest = await instantiate(around(body, "(result i32)"), { imports: { host: { note: () => {} } } });
    expect(guest.call("run")).toEqual({ result: 132, trapped: false, used: 2 + 5 * 11 + 1 + 2 });
  });

  test("a test within an expression keeps what is on the stack", async () => {
    const body = `i32.const 1 i32.const 2 i64.const 5 ${"i64.const 1 i64.add ".repeat(12_000)} drop i32.sub`;
    const guest = await instantiate(around(body, "(result i32)"), { imports: { host: { note: () => {} } } });
    expect(guest.call("run")).toEqual({ result: -1, trapped: false, used: 24_004 });
    expect(guest.report.tests).toBeGreaterThanOrEqual(3);
  });

  test("a price of the caller's schedule is what is charged", async () => {
    const options = { schedule: { ...SCHEDULE, plain: 3, structural: 1, call: 20 } };
    const guest = await instantiate(around("nop i32.const 1 drop call $small"), {
      options,
      imports: { host: { note: () => {} } },
    });
    // nop, const, drop and call; and the `end` of each of the two functions.
    expect(guest.call("run").used).toBe(1 + 3 + 1 + 20 + 1 + 1);
  });
});

describe("scheduleId()", () => {
  test("is sixteen hex digits, the same for the same prices in any order", () => {
    const reversed = Object.fromEntries(Object.entries(SCHEDULE).reverse()) as unknown as Schedule;
    expect(scheduleId()).toMatch(/^[0-9a-f]{16}$/);
    expect(scheduleId(reversed)).toBe(scheduleId(SCHEDULE));
  });

  test("changes with any price", () => {
    const prices = Object.keys(SCHEDULE) as (keyof Schedule)[];
    const ids = prices.map((price) => scheduleId({ ...SCHEDULE, [price]: SCHEDULE[price] + 1 }));
    expect(new Set([scheduleId(), ...ids]).size).toBe(prices.length + 1);
  });

  test.each([
    ["a price that is missing", { ...SCHEDULE, plain: undefined }],
    ["free work", { ...SCHEDULE, plain: 0 }],
    ["a fraction", { ...SCHEDULE, call: 1.5 }],
    ["a negative price", { ...SCHEDULE, structural: -1 }],
    ["an unknown price", { ...SCHEDULE, tea: 1 }],
  ])("refuses %s", (_, schedule) => {
    expect(() => scheduleId(schedule as Schedule)).toThrow(RangeError);
  });
});
