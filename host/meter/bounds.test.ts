import { describe, expect, test } from "vitest";
import { EXHAUSTED } from "./meter.ts";
import { instantiate } from "./testing/guest.ts";

/** A straight line of `cost` units. */
function line(cost: number): string {
  return "global.get $g global.set $g ".repeat(cost / 2);
}

/** A guest that ran dry went this far below zero. */
async function overdraft(text: string, fuel: number, parameters: readonly unknown[] = []): Promise<number> {
  const guest = await instantiate(text, { budget: { fuel } });
  guest.call("run", ...parameters);
  expect(guest.counters.fuel.value).toBeLessThan(0n);
  return -Number(guest.counters.fuel.value);
}

/** Exports the import, which JavaScript can then put in a table. */
const HOST_FUNCTION = '(module (import "host" "note" (func $note)) (export "note" (func $note)))';

const GLOBAL = "(global $g (mut i32) (i32.const 0))";

describe("what runs before an empty tank is noticed", () => {
  test("a loop ends within one round", async () => {
    expect(await overdraft(`(module ${GLOBAL} (func (export "run") loop ${line(100)} br 0 end))`, 5_000)).toBeLessThan(
      102,
    );
  });

  test("a straight line is tested at least every 10,000 units", async () => {
    const body = line(100_000);
    const text = `(module ${GLOBAL} (func $long ${body} local.get 0 if ${line(2)} end unreachable) (func (export "run") call $long))`;
    expect(await overdraft(text.replace("(func $long", "(func $long (local i32)"), 15_000)).toBeLessThanOrEqual(10_000);
  });

  test("a long body of a loop is tested at least every 10,000 units", async () => {
    const text = `(module ${GLOBAL} (func (export "run") loop ${line(50_000)} br 0 end))`;
    expect(await overdraft(text, 123_456)).toBeLessThanOrEqual(10_000);
  });

  test("a line of calls of leaves that are not tested is tested at least every 10,000 units", async () => {
    const text = `(module ${GLOBAL} (func $leaf ${line(64)}) (func (export "run") ${"call $leaf ".repeat(5_000)}))`;
    expect(await overdraft(text, 1_000)).toBeLessThanOrEqual(10_000);
  });

  test("a leaf of more than 64 units is tested", async () => {
    const text = (cost: number) => `(module ${GLOBAL} (func (export "run") ${line(cost)}))`;
    expect((await instantiate(text(64), { budget: { fuel: 10 } })).call("run").trapped).toBe(false);
    expect((await instantiate(text(66), { budget: { fuel: 10 } })).call("run").trapped).toBe(true);
  });

  test("a loop that does nothing but call leaves ends within one round", async () => {
    const text = `(module ${GLOBAL} (func $leaf ${line(40)}) (func (export "run") loop call $leaf call $leaf br 0 end))`;
    expect(await overdraft(text, 5_000)).toBeLessThan(98);
  });

  test("what others enter is no leaf: an export, the start function, a cycle", async () => {
    const text = `(module ${GLOBAL} (func (export "run") ${line(2)}) (func $start ${line(2)}) (start $start)
      (func $odd call $even) (func $even call $odd) (func $under call $odd) (func $leaf ${line(2)}))`;
    const { report, call, counters } = await instantiate(text);
    expect(report.functions.leaf).toBe(1);
    expect(counters.fuel.value).toBe(1_000_000_000n - 2n);
    expect(call("run").used).toBe(2);
  });

  test("a chain of 50,000 functions is searched for leaves in bounded time and depth", async () => {
    const chain = Array.from({ length: 50_000 }, (_, index) => `(func call ${index + 1})`);
    const text = `(module ${GLOBAL} ${chain.join("")} (func ${line(2)}))`;
    expect((await instantiate(text)).report.functions.leaf).toBe(5);
  });

  test("a leaf with branches of more than 64 units is tested", async () => {
    const text = `(module ${GLOBAL} (func (export "run") (param i32) local.get 0 if ${line(80)} else ${line(4)} end))`;
    const guest = await instantiate(text, { budget: { fuel: 0 } });
    guest.counters.fuel.value = -1n;
    expect(guest.call("run", 1).trapped).toBe(true);
  });

  test("a function with 2,000 locals pays for them however it is called", async () => {
    const text = `(module (func (export "run") (local ${"i64 ".repeat(2_000)})))`;
    expect((await instantiate(text)).call("run").used).toBe(1_968);
    expect((await instantiate(text, { budget: { fuel: 1_000 } })).call("run").trapped).toBe(true);
  });

  test("recursion with long frames owes at most 64 a frame", async () => {
    // 3,000 units in each frame before the call, nothing behind it.
    const text = `(module ${GLOBAL} (func $down (export "run") (param i32)
      ${line(3_000)} local.get 0 if local.get 0 i32.const 1 i32.sub call $down end))`;
    expect(await overdraft(text, 100_000, [1_000])).toBeLessThanOrEqual(3_100);
  });

  test("frames that return one after another run at most 1,000 units each before one of them tests", async () => {
    const text = (behind: number) => `(module ${GLOBAL} (func $down (export "run") (param i32)
      local.get 0 if local.get 0 i32.const 1 i32.sub call $down end ${line(behind)}))`;
    expect(await overdraft(text(8_900), 50_000, [1_000])).toBeLessThanOrEqual(10_000);
    expect(await overdraft(text(900), 50_000, [1_000])).toBeLessThanOrEqual(1_000 * 1_000);
  });

  test("a graph of 60 functions that each call the next twice stops", async () => {
    const functions = Array.from(
      { length: 60 },
      (_, index) => `(func $f${index} call $f${index + 1} call $f${index + 1})`,
    );
    const text = `(module ${functions.join("\n")} (func $f60) (func (export "run") call $f0))`;
    expect(await overdraft(text, 100_000)).toBeLessThan(100);
  });

  test("a cycle of tail calls stops", async () => {
    const direct = `(module (func $a (export "run") return_call $b) (func $b return_call $a))`;
    const indirect = `(module (table funcref (elem $a)) (type $t (func))
      (func $a (export "run") i32.const 0 return_call_indirect (type $t)))`;
    expect(await overdraft(direct, 100_000)).toBeLessThan(100);
    expect(await overdraft(indirect, 100_000)).toBeLessThan(100);
  });

  test("indirect recursion without a loop stops", async () => {
    const text = `(module (table funcref (elem $a)) (type $t (func))
      (func $a (export "run") i32.const 0 call_indirect (type $t) i32.const 0 call_indirect (type $t)))`;
    // 100 units are fewer frames than the stack holds.
    expect(await overdraft(text, 100)).toBeLessThan(100);
  });

  test("a start function is metered", async () => {
    await expect(
      instantiate("(module (func $s loop br 0 end) (start $s))", { budget: { fuel: 1_000 } }),
    ).rejects.toThrow("unreachable");
  });
});

describe("an imported call", () => {
  const text = `(module (import "host" "note" (func $note)) ${GLOBAL}
    (func (export "run") ${line(40)} call $note ${line(10)} call $note ${line(20)}))`;

  test("finds the counter exact", async () => {
    const seen: number[] = [];
    const fuel = 10_000;
    const note = (): void => void seen.push(fuel - Number(guest.counters.fuel.value));
    const guest = await instantiate(text, { budget: { fuel }, imports: { host: { note } } });
    expect(guest.call("run").used).toBe(370);
    expect(seen).toEqual([190, 350]);
  });

  test.each([
    [189, 0],
    [190, 1],
    [349, 1],
    [350, 2],
  ])("with %i units of fuel is made %i times", async (fuel, calls) => {
    let made = 0;
    const guest = await instantiate(text, { budget: { fuel }, imports: { host: { note: () => made++ } } });
    guest.call("run");
    expect(made).toBe(calls);
  });

  test("may charge the counter, and the guest stops on it", async () => {
    const note = (): void => {
      guest.counters.fuel.value -= 1_000_000n;
    };
    const guest = await instantiate(text, { budget: { fuel: 10_000 }, imports: { host: { note } } });
    expect(guest.call("run")).toMatchObject({ trapped: true });
    expect(guest.counters.fuel.value).toBe(10_000n - 190n - 1_000_000n - 160n);
  });

  test("may empty the tank, and the guest stops at its next test", async () => {
    const text = `(module (import "host" "note" (func $note)) (func (export "run") call $note loop br 0 end))`;
    const note = (): void => {
      guest.counters.fuel.value = EXHAUSTED;
    };
    const guest = await instantiate(text, { imports: { host: { note } } });
    expect(guest.call("run").trapped).toBe(true);
    expect(guest.counters.fuel.value).toBe(EXHAUSTED);
  });

  test.each([
    ["its own table", "(table funcref (elem $note))"],
    ["an exported table", '(table (export "t") 1 funcref) (elem (i32.const 0) $own) (func $own)'],
  ])("through %s finds the counter exact too, and is never made on an empty tank", async (_, table) => {
    const indirect = `(module (import "host" "note" (func $note)) (type $t (func)) ${table} ${GLOBAL}
      (func (export "run") ${line(40)} i32.const 0 call_indirect (type $t) ${line(10)}))`;
    const seen: bigint[] = [];
    const note = (): void => void seen.push(guest.counters.fuel.value);
    const guest = await instantiate(indirect, { budget: { fuel: 140 }, imports: { host: { note } } });
    const exported = guest.exports["t"] as { set(index: number, value: unknown): void } | undefined;
    exported?.set(0, (await instantiate(HOST_FUNCTION, { imports: { host: { note } } })).exports["note"]);
    expect(guest.call("run").used).toBe(107);
    guest.counters.fuel.value = 96n;
    expect(guest.call("run").trapped).toBe(true);
    expect(seen).toEqual([43n]);
  });

  test("at the end of a function is charged with it, and one in the middle is not", async () => {
    const wrapper = (tail: string) => `(module (import "host" "note" (func $note (param i32) (result i32))) ${GLOBAL}
      (func (export "run") (param i32) (result i32) local.get 0 call $note ${tail}))`;
    const imports = { host: { note: (value: number) => value + 1 } };
    const modes = async (tail: string) => (await instantiate(wrapper(tail), { imports })).report.functions;
    expect(await modes("")).toMatchObject({ direct: 1, cached: 0 });
    expect(await modes("i32.const 1 i32.add")).toMatchObject({ direct: 0, cached: 1 });
    expect((await instantiate(wrapper(""), { imports })).call("run", 4)).toMatchObject({ result: 5, used: 151 });
  });

  test.each([
    ["alone", ""],
    ["behind a loop", "loop local.get 0 br_if 0 end"],
  ])("is not made by a tail call %s on an empty tank", async (_, before) => {
    let made = 0;
    const tail = `(module (import "host" "note" (func $note)) (func (export "run") (local i32) ${before} return_call $note))`;
    const guest = await instantiate(tail, { budget: { fuel: 149 }, imports: { host: { note: () => made++ } } });
    expect([guest.call("run").trapped, made]).toEqual([true, 0]);
  });
});

describe("a trap", () => {
  test("by unreachable loses nothing of a loop without calls", async () => {
    const text = `(module (func (export "run") (local i32) loop
      local.get 0 i32.const 1 i32.add local.tee 0 i32.const 10 i32.lt_u br_if 0 end
      i32.const 1 drop i32.const 1 drop unreachable))`;
    expect((await instantiate(text)).call("run")).toEqual({ trapped: true, used: 72 });
  });

  test("of another kind is never taken for an empty tank", async () => {
    const text = `(module (func (export "run") (param i32) (result i32) i32.const 1 local.get 0 i32.div_u))`;
    const guest = await instantiate(text);
    expect(guest.call("run", 0).trapped).toBe(true);
    expect(guest.counters.fuel.value).toBeGreaterThan(0n);
  });
});
