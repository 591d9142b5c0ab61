import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { describe, expect, it } from "vitest";
import { bothWays, carry } from "./both-ways.ts";

/**
 * A component of two: one defines a resource whose representation is a number and whose destructor adds it to a sum, the other
 * holds handles of it. `body` is the second one's function; it may call make, peek, keep, take, sum and drop.
 */
function twoComponents(body: string): string {
  return `(component
    (component $maker
      (core module $state
        (global $sum (mut i32) (i32.const 0))
        (func (export "dtor") (param i32) (global.set $sum (i32.add (global.get $sum) (local.get 0))))
        (func (export "sum") (result i32) (global.get $sum)))
      (core instance $state (instantiate $state))
      (type $thing (resource (rep i32) (dtor (core func $state "dtor"))))
      (core func $new (canon resource.new $thing))
      (core func $rep (canon resource.rep $thing))
      (core module $m
        (import "t" "new" (func $new (param i32) (result i32)))
        (import "t" "rep" (func $rep (param i32) (result i32)))
        (func (export "make") (param i32) (result i32) (call $new (local.get 0)))
        (func (export "peek") (param i32) (result i32) (local.get 0))
        (func (export "take") (param i32) (result i32) (call $rep (local.get 0))))
      (core instance $m (instantiate $m (with "t" (instance (export "new" (func $new)) (export "rep" (func $rep))))))
      (export $thing' "thing" (type $thing))
      (func (export "make") (param "rep" u32) (result (own $thing')) (canon lift (core func $m "make")))
      (func (export "peek") (param "it" (borrow $thing')) (result u32) (canon lift (core func $m "peek")))
      (func (export "take") (param "it" (own $thing')) (result u32) (canon lift (core func $m "take")))
      (func (export "sum") (result u32) (canon lift (core func $state "sum"))))
    (instance $made (instantiate $maker))
    (component $user
      (import "made" (instance $made
        (export "thing" (type $thing (sub resource)))
        (export "make" (func (param "rep" u32) (result (own $thing))))
        (export "peek" (func (param "it" (borrow $thing)) (result u32)))
        (export "take" (func (param "it" (own $thing)) (result u32)))
        (export "sum" (func (result u32)))))
      (alias export $made "thing" (type $thing))
      (alias export $made "make" (func $make)) (core func $make' (canon lower (func $make)))
      (alias export $made "peek" (func $peek)) (core func $peek' (canon lower (func $peek)))
      (alias export $made "take" (func $take)) (core func $take' (canon lower (func $take)))
      (alias export $made "sum" (func $sum)) (core func $sum' (canon lower (func $sum)))
      (core func $drop (canon resource.drop $thing))
      (core module $m
        (import "t" "make" (func $make (param i32) (result i32)))
        (import "t" "peek" (func $peek (param i32) (result i32)))
        (import "t" "take" (func $take (param i32) (result i32)))
        (import "t" "sum" (func $sum (result i32)))
        (import "t" "drop" (func $drop (param i32)))
        (func (export "run") (result i32) (local $a i32) (local $b i32) ${body}))
      (core instance $i (instantiate $m (with "t" (instance
        (export "make" (func $make')) (export "peek" (func $peek')) (export "take" (func $take'))
        (export "sum" (func $sum')) (export "drop" (func $drop))))))
      (func (export "run") (result u32) (canon lift (core func $i "run"))))
    (instance $used (instantiate $user (with "made" (instance $made))))
    (alias export $used "run" (func $run))
    (export "run" (func $run)))`;
}

const RUN = { interfaceName: null, key: "run", args: [] };
const MAKE_TWO = "(local.set $a (call $make (i32.const 40))) (local.set $b (call $make (i32.const 2)))";
const trapped = (what: string): object => ({ kind: "trapped", phase: "guest", what: expect.stringContaining(what) });

describe("an exception of one component", () => {
  it("ends the run where another would catch it", async () => {
    const wat = `(component
      (component $thrower
        (core module $m (tag $e) (func (export "boom") throw $e))
        (core instance $m (instantiate $m))
        (func (export "boom") (canon lift (core func $m "boom"))))
      (instance $thrower (instantiate $thrower))
      (alias export $thrower "boom" (func $boom))
      (core func $low (canon lower (func $boom)))
      (core module $m (import "t" "boom" (func $boom))
        (func (export "run") (result i32) try (call $boom) catch_all (loop $again (br $again)) end (i32.const 1)))
      (core instance $m (instantiate $m (with "t" (instance (export "boom" (func $low))))))
      (func (export "run") (result u32) (canon lift (core func $m "run"))))`;
    const linked = await carry(await parse(wat));
    expect(linked.run(RUN).ending).toEqual(trapped("an exception left a component"));
  });
});

describe("resources between the components of one capability", () => {
  it.each([
    [
      "are looked at, given away and dropped",
      `${MAKE_TWO}
      (drop (call $peek (local.get $a))) (call $drop (local.get $a)) (i32.add (call $sum) (call $peek (local.get $b)))`,
      42,
    ],
    [
      "keep their destructor to themselves until they are dropped",
      `${MAKE_TWO} (call $drop (local.get $b)) (call $sum)`,
      2,
    ],
    [
      "have handles that are used again",
      `${MAKE_TWO} (call $drop (local.get $a))
      (i32.eq (local.get $a) (call $make (i32.const 7)))`,
      1,
    ],
  ])("%s, through both alike", async (_, body, output) => {
    const { linked, glue } = await bothWays(await parse(twoComponents(body)));
    expect(linked.run(RUN).ending).toEqual({ kind: "succeeded", output });
    expect(glue.run(RUN).ending).toEqual({ kind: "succeeded", output });
  });

  it.each([
    [
      "a handle that is dropped twice",
      `${MAKE_TWO} (call $drop (local.get $a)) (call $drop (local.get $a)) (i32.const 0)`,
      trapped("no handle"),
    ],
    ["a handle that was never given", `(call $peek (i32.const 77))`, trapped("no handle")],
    [
      "a handle that was given away",
      `${MAKE_TWO} (drop (call $take (local.get $a))) (call $peek (local.get $a))`,
      trapped("no handle"),
    ],
    ["handle 0", `(call $peek (i32.const 0))`, trapped("no handle")],
    [
      "handles without end",
      `(loop $again (drop (call $make (i32.const 1))) (br $again)) (i32.const 0)`,
      { kind: "over-budget", limit: "handles" },
    ],
  ])("%s ends in its outcome", async (_, body, ends) => {
    const linked = await carry(await parse(twoComponents(body)));
    expect(linked.kind).toBe("linked");
    expect(linked.run(RUN).ending).toEqual(ends);
  });
});
