import { createHash } from "node:crypto";

/**
 * What each kind of work costs, in units of fuel. One unit is 0.06 to 0.1 ns of V8's time, so a price says what the work
 * takes at worst, not what it is worth. Flat prices for work that grows with an operand would be a hole, hence the
 * prices per byte, element and page.
 */
export interface Schedule {
  /** `block`, `loop`, `else`, `end`, `try*`, `catch*`, `delegate`, `nop`, `drop`, `unreachable`: no work of their own. May be 0. */
  readonly structural: number;
  /** Constants, locals, globals, arithmetic, comparisons, conversions, `select`, `if`, `br*`, `ref.*`, `size`, plain SIMD. */
  readonly plain: number;
  /** Loads and stores (SIMD too), `table.get`. */
  readonly access: number;
  /** `table.set`: V8 leaves the guest's code for it, some 40 ns where the table holds functions. */
  readonly tableSet: number;
  /** Integer and float division, remainder, square root: per lane. */
  readonly division: number;
  /** `call` and `return_call` of a function that the module defines. */
  readonly call: number;
  /** `call_indirect`, `call_ref` and their tail calls, and besides it `leaf`: what is reached may be one. */
  readonly indirectCall: number;
  /** `call` and `return_call` of an imported function. */
  readonly importedCall: number;
  /**
   * Most that a leaf may cost. A leaf is a small function without a loop that calls nothing but leaves (`findLeaves` has
   * the definition). It pays nothing itself: a direct call of it costs what all its instructions cost, executed or not,
   * and any indirect call this much. 0: no function is a leaf. At most 64.
   */
  readonly leaf: number;
  /** `throw`, `rethrow` and `throw_ref`, besides what is unwound (`unwind`). */
  readonly throw: number;
  /**
   * Each frame that an exception unwinds, which costs V8 up to 0.6 µs. Where exceptions may pass (`MeterReport.unwinds`), a
   * call of what is not a known leaf takes this along and gives it back when it returns: so it is there before it is
   * needed, and fuel must suffice for it while calls are under way. V8 unwinds anew from each handler that does not match, so
   * each `try` or `try_table` around the call counts like a frame (the first one is the callee's), and each but the innermost
   * one around a throw does. May be 0.
   */
  readonly unwind: number;
  /** Locals (parameters included) of a function that cost nothing. */
  readonly freeLocals: number;
  /** Each further local, paid by the function when it is entered, however it is called. May be 0. */
  readonly extraLocal: number;
  /** `memory.copy`, `memory.fill`, `memory.init`, whatever the length. */
  readonly memoryBulk: number;
  /** The same, per byte. */
  readonly memoryBulkByte: number;
  /** `table.copy`, `table.fill`, `table.init`, whatever the length. */
  readonly tableBulk: number;
  /** The same, per element. */
  readonly tableBulkElement: number;
  /** `memory.grow`, whatever the number of pages. */
  readonly memoryGrow: number;
  /** The same, per page of 64 KiB that is asked for. */
  readonly memoryGrowPage: number;
  /** `table.grow`, whatever the number of elements. */
  readonly tableGrow: number;
  /** The same, per element that is asked for. */
  readonly tableGrowElement: number;
}

/** Raised when the meter counts otherwise for the same schedule; part of each schedule id. */
export const METER_VERSION = 4;

/** The default prices. */
export const SCHEDULE: Schedule = Object.freeze({
  structural: 0,
  plain: 1,
  access: 2,
  tableSet: 500,
  division: 16,
  call: 8,
  indirectCall: 16,
  importedCall: 150,
  leaf: 40,
  throw: 10_000,
  unwind: 6_000,
  freeLocals: 32,
  extraLocal: 1,
  memoryBulk: 64,
  memoryBulkByte: 1,
  tableBulk: 64,
  tableBulkElement: 128,
  memoryGrow: 50_000,
  memoryGrowPage: 16_384,
  tableGrow: 5_000,
  tableGrowElement: 128,
});

/** Prices that may be 0: no loop can consist of them alone. */
const MAY_BE_FREE: ReadonlySet<string> = new Set(["structural", "extraLocal", "freeLocals", "leaf", "unwind"]);

/** A path's cost is summed as a float and charged in 32 bits; this bound keeps both exact for the largest body. */
const HIGHEST_PRICE = 1_000_000;

/** Past what any run may have, and still in 32 bits: a million for each of the deepest blocks would not be. */
const HIGHEST_UNWINDING = 1_000_000_000;

/** What a function without a test may cost (`charge-path.ts`). */
const HIGHEST_LEAF = 64;

/**
 * The identity of how fuel is counted: equal ids burn equal fuel for the same run. Sixteen hex digits of the SHA-256 of
 * the prices and `METER_VERSION` in canonical JSON. Options that do not change counts (`callDepth`, `importMemory`,
 * clamps, caps) are not part of it. Throws a `RangeError` for a schedule that is not one.
 */
export function scheduleId(schedule: Schedule = SCHEDULE): string {
  checkSchedule(schedule);
  const prices = Object.fromEntries(PRICES.map((price) => [price, schedule[price]]));
  return createHash("sha256")
    .update(JSON.stringify({ meter: METER_VERSION, prices }))
    .digest("hex")
    .slice(0, 16);
}

/** What a throw costs within the bodies of `tries`, as far as its own frame goes. */
export function throwPrice(schedule: Schedule, tries: number): number {
  return Math.min(HIGHEST_UNWINDING, schedule.throw + Math.max(0, tries - 1) * schedule.unwind);
}

/** What a call within the bodies of `tries` that an exception may leave holds until it returns. */
export function heldPrice(schedule: Schedule, tries: number): number {
  return Math.min(HIGHEST_UNWINDING, Math.max(1, tries) * schedule.unwind);
}

/** Throws a `RangeError` unless every price is there, is an integer in range, and nothing else is there. */
export function checkSchedule(schedule: Schedule): void {
  for (const price of PRICES) {
    const lowest = MAY_BE_FREE.has(price) ? 0 : 1;
    const highest = price === "leaf" ? HIGHEST_LEAF : HIGHEST_PRICE;
    const value = schedule[price];
    if (!Number.isInteger(value) || value < lowest || value > highest) {
      throw new RangeError(
        `Cannot use schedule: ${price} is ${String(value)}, wanted an integer from ${lowest} to ${highest}`,
      );
    }
  }
  const unknown = Object.keys(schedule).find((key) => !Object.hasOwn(SCHEDULE, key));
  if (unknown !== undefined) throw new RangeError(`Cannot use schedule: ${JSON.stringify(unknown)} is not a price`);
}

const PRICES = (Object.keys(SCHEDULE) as (keyof Schedule)[]).sort();
