import type { FuelCase } from "./fuel-cases.ts";

/** A module around the body of `run` that has tags and functions that throw. */
export function aroundThrowing(body: string, result = ""): string {
  return `(module
    (import "host" "fail" (func $fail)) (import "host" "stop" (func $stop))
    (import "host" "note" (func $note (param i32) (result i32)))
    (tag $t) (tag $p (param i32 i64))
    (type $unit (func)) (table funcref (elem $thrower))
    (func $thrower throw $t)
    (func $middle i32.const 1 drop i32.const 1 drop call $thrower i32.const 1 drop)
    (func $quiet (export "quiet") i32.const 1 drop)
    (func $deep (param i32) local.get 0 i32.eqz if throw $t end local.get 0 i32.const 1 i32.sub call $deep)
    (func $tail return_call $thrower)
    (func (export "run") ${result} (local $i i32) ${body}))`;
}

/** What each frame that is unwound costs. */
const UNWIND = 6_000;

const COUNT_TO_5 = "local.get $i i32.const 1 i32.add local.tee $i i32.const 5 i32.lt_u";

/** `try`, `catch`, `catch_all`, `delegate`, `rethrow` and `throw`, which every version accepts. */
export const LEGACY_CASES: readonly FuelCase[] = [
  ["throw is 10,000, try and catch are nothing", "try throw $t catch $t end", 10_000],
  ["what a tag carries arrives", "try i32.const 7 i64.const 8 throw $p catch $p drop local.set $i end", 10_003],
  ["another tag is caught by catch_all", "try throw $t catch $p drop drop catch_all i32.const 1 drop end", 10_001],
  ["a try that does not throw costs its body", "try i32.const 1 drop catch_all i32.const 5 drop end", 1],
  ["a call that throws is a call", "try call $thrower catch_all end", 8 + 10_000 + UNWIND],
  ["an indirect one too", "try i32.const 0 call_indirect (type $unit) catch_all end", 57 + 10_000 + UNWIND],
  ["a tail call too", "try call $tail catch $t end", 16 + 10_000 + UNWIND],
  [
    "what a frame ran before it was unwound is charged",
    "try call $middle catch_all end",
    8 + 2 + 8 + 10_000 + 2 * UNWIND,
  ],
  [
    "what follows a call that throws is not charged",
    "try i32.const 1 drop call $middle i32.const 1 drop i32.const 1 drop catch_all end i32.const 3 drop",
    1 + 18 + 10_000 + 2 * UNWIND + 1,
  ],
  ["rethrow is 10,000", "try try throw $t catch $t rethrow 0 end catch_all end", 20_000 + UNWIND],
  [
    "rethrow of an outer one",
    "try try throw $t catch_all try call $thrower catch $t rethrow 1 end end catch_all end",
    30_008 + 3 * UNWIND,
  ],
  ["delegate is a handler", "try try throw $t delegate 0 catch $t i32.const 1 drop end", 10_001 + UNWIND],
  [
    "a throw pays for each handler around the first",
    "try try try throw $t catch $p drop drop end catch $p drop drop end catch_all end",
    10_000 + 2 * UNWIND,
  ],
  [
    "so does a call that throws",
    "try try try call $thrower catch $p drop drop end catch $p drop drop end catch_all end",
    8 + 10_000 + 3 * UNWIND,
  ],
  [
    "a call that returns gets that back",
    "try try try i32.const 1 call $note drop catch $p drop drop end catch_all end catch_all end",
    151,
  ],
  [
    "handlers that a branch or their own end left behind are not paid",
    "try block try br 1 catch_all end end try catch_all end try throw $t catch_all end catch_all end",
    10_001 + UNWIND,
  ],
  ["a handler is not within its own try", "try try throw $t catch $t throw $t end catch_all end", 20_000 + UNWIND],
  [
    "delegate past a handler",
    "try try try throw $t delegate 1 catch $t i32.const 1 drop end catch $t i32.const 1 i32.const 2 drop drop end",
    10_002 + 2 * UNWIND,
  ],
  ["delegate of a body that does not throw", "try i32.const 1 drop delegate 0 i32.const 1 drop", 2],
  ["a loop of throws", `loop try throw $t catch $t end ${COUNT_TO_5} br_if 0 end`, 5 * 10_007],
  [
    "a handler that goes on in the loop",
    `loop try ${COUNT_TO_5} if throw $t end catch $t br 1 end end`,
    5 * 7 + 4 * 10_001,
  ],
  ["a branch out of a try", "block try i32.const 1 drop br 1 catch_all end i32.const 1 drop end", 2],
  ["a return within a try", "try i32.const 1 drop return catch_all end i32.const 1 drop", 2],
  ["a return within a handler", "try throw $t catch_all return end i32.const 1 drop", 10_001],
  ["what the host throws is caught", "try call $fail catch_all i32.const 1 drop end", 151 + UNWIND],
  [
    "a recursion that is unwound",
    "try i32.const 5 call $deep catch_all end",
    1 + 6 * (8 + 3) + 5 * 3 + 10_000 + 6 * UNWIND,
  ],
  ["a handler that calls", "try throw $t catch_all call $quiet i32.const 4 call $note drop end", 10_000 + 9 + 151],
  [
    "code behind a throw costs nothing",
    "try throw $t i32.const 1 drop try throw $t catch_all end catch_all end",
    10_000,
  ],
];

/** `try_table`, `throw_ref` and `exnref`, from Node 22 on. */
export const NEW_CASES: readonly FuelCase[] = [
  ["try_table is nothing", "try_table i32.const 1 drop end", 1],
  ["a catch of try_table", "block try_table (catch $t 0) throw $t end end", 10_000],
  [
    "what a tag carries arrives",
    "block $h (result i32 i64) try_table (catch $p $h) i32.const 7 i64.const 8 throw $p end i32.const 0 i64.const 0 end drop drop",
    10_002,
  ],
  ["catch_all", "block try_table (catch_all 0) throw $t end end", 10_000],
  [
    "each handler around the first",
    "block try_table (catch_all 0) try_table try_table throw $t end end end end",
    10_000 + 2 * UNWIND,
  ],
  [
    "catch_ref and throw_ref",
    `block $o (result exnref) block $i (result exnref) try_table (catch_ref $t $i) throw $t end unreachable end
     try_table (param exnref) (result exnref) (catch_all_ref $o) throw_ref end end drop`,
    20_000,
  ],
  ["a call that throws", "block try_table (catch_all 0) call $middle end end", 8 + 2 + 8 + 10_000 + 2 * UNWIND],
  [
    "a catch that lands on a loop",
    `loop $l try_table (catch $t $l) ${COUNT_TO_5} if throw $t end end end`,
    5 * 7 + 4 * 10_000,
  ],
  ["a catch that leaves the function", "i32.const 1 drop try_table (catch $t 0) throw $t end i32.const 1 drop", 10_001],
  [
    "a catch in the arm of an if",
    "local.get $i if else try_table (catch $t 0) throw $t end i32.const 1 drop end",
    10_002,
  ],
  [
    "an owed value that a catch changes",
    "block i32.const 1 drop local.get $i br_if 0 try_table (catch $t 0) call $thrower end end i32.const 1 drop",
    3 + 8 + 10_000 + UNWIND + 1,
  ],
  ["what the host throws is caught", "block try_table (catch_all 0) call $fail end end", 150 + UNWIND],
];
