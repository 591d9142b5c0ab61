import v8 from "node:v8";
import vm from "node:vm";
import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { describe, expect, it } from "vitest";
import { bothWays, carry } from "./both-ways.ts";

v8.setFlagsFromString("--expose-gc");
const collectGarbage = vm.runInNewContext("gc") as () => void;

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

describe("an exception of a destructor", () => {
  it("ends the run where the one who drops the resource would catch it", async () => {
    const wat = `(component
      (core module $d (tag $e) (func (export "dtor") (param i32) throw $e))
      (core instance $d (instantiate $d))
      (type $r (resource (rep i32) (dtor (core func $d "dtor"))))
      (core func $new (canon resource.new $r)) (core func $drop (canon resource.drop $r))
      (core module $m (import "r" "new" (func $new (param i32) (result i32))) (import "r" "drop" (func $drop (param i32)))
        (func (export "run") (result i32) try (call $drop (call $new (i32.const 1))) catch_all end (i32.const 1)))
      (core instance $m (instantiate $m (with "r" (instance (export "new" (func $new)) (export "drop" (func $drop))))))
      (func (export "run") (result u32) (canon lift (core func $m "run"))))`;
    expect((await carry(await parse(wat))).run(RUN).ending).toEqual(trapped("an exception left a destructor"));
  });
});

describe("a component that is entered", () => {
  it("is not entered again before it has answered", async () => {
    const wat = `(component
      (core module $shim (table (export "t") 1 funcref) (type $f (func))
        (func (export "next") (call_indirect (type $f) (i32.const 0))))
      (core instance $shim (instantiate $shim))
      (core module $main (import "s" "next" (func $next)) (func (export "f"))
        (func (export "run") (result i32) (call $next) (i32.const 7)))
      (core instance $main (instantiate $main (with "s" (instance $shim))))
      (func $f (canon lift (core func $main "f")))
      (component $child
        (import "f" (func $f)) (core func $low (canon lower (func $f)))
        (core module $c (import "p" "f" (func $f)) (func (export "g") (call $f)))
        (core instance $c (instantiate $c (with "p" (instance (export "f" (func $low))))))
        (func (export "g") (canon lift (core func $c "g"))))
      (instance $child (instantiate $child (with "f" (func $f))))
      (core func $g (canon lower (func $child "g")))
      (core module $fix (import "s" "t" (table 1 funcref)) (import "g" "g" (func $g)) (elem (i32.const 0) func $g))
      (core instance (instantiate $fix (with "s" (instance $shim)) (with "g" (instance (export "g" (func $g))))))
      (func (export "run") (result u32) (canon lift (core func $main "run"))))`;
    expect((await carry(await parse(wat))).run(RUN).ending).toEqual(trapped("entered again"));
  });
});

describe("a chain of components", () => {
  const BYTES = 4_000_000;
  const LINKS = 8;

  it("holds what passes along it once, not for each call that goes on", async () => {
    const memory = `(memory (export "memory") 64) (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 64))`;
    const list = `(param "x" (list u8))`;
    const wat = `(component
      (import "test:far/far" (instance $far (export "call" (func ${list}))))
      (alias export $far "call" (func $f0))
      (component $link
        (import "next" (func $next ${list}))
        (core module $libc ${memory}) (core instance $libc (instantiate $libc))
        (core func $low (canon lower (func $next) (memory (core memory $libc "memory"))))
        (core module $m (import "next" "next" (func $next (param i32 i32)))
          (func (export "pass") (param i32 i32) (call $next (local.get 0) (local.get 1))))
        (core instance $m (instantiate $m (with "next" (instance (export "next" (func $low))))))
        (func (export "pass") ${list} (canon lift (core func $m "pass")
          (memory (core memory $libc "memory")) (realloc (core func $libc "realloc")))))
      ${Array.from({ length: LINKS }, (_, at) => `(instance $i${at} (instantiate $link (with "next" (func $f${at})))) (alias export $i${at} "pass" (func $f${at + 1}))`).join(" ")}
      (core module $libc ${memory}) (core instance $libc (instantiate $libc))
      (core func $low (canon lower (func $f${LINKS}) (memory (core memory $libc "memory"))))
      (core module $m (import "f" "f" (func $f (param i32 i32))) (func (export "run") (call $f (i32.const 64) (i32.const ${BYTES}))))
      (core instance $m (instantiate $m (with "f" (instance (export "f" (func $low))))))
      (func (export "run") (canon lift (core func $m "run"))))`;
    let held = 0;
    const host = (): { kind: "value"; value: undefined } => {
      collectGarbage();
      // What the first finds is counted down in the background.
      collectGarbage();
      held = process.memoryUsage().arrayBuffers;
      return { kind: "value", value: undefined };
    };
    const functions = [{ name: "call", key: "call", fallible: false }];
    const linked = await carry(await parse(wat), {
      links: [{ kind: "embedder", name: "test:far/far", functions }],
      host,
    });
    const before = process.memoryUsage().arrayBuffers;
    expect(linked.run({ ...RUN, limits: { memories: LINKS + 1 } }).ending.kind).toBe("succeeded");
    expect(held - before).toBeLessThan(2 * BYTES);
  });
});

describe("resources of one component", () => {
  it("are not taken for those of another type without a name, through both alike", async () => {
    const { linked, glue } = await bothWays(
      await parse(`(component
        (type $a (resource (rep i32))) (core func $new (canon resource.new $a))
        (type $b (resource (rep i32))) (core func $rep (canon resource.rep $b))
        (core module $m
          (import "t" "new" (func $new (param i32) (result i32))) (import "t" "rep" (func $rep (param i32) (result i32)))
          (func (export "run") (result i32) (call $rep (call $new (i32.const 42)))))
        (core instance $m (instantiate $m (with "t" (instance (export "new" (func $new)) (export "rep" (func $rep))))))
        (func (export "run") (result u32) (canon lift (core func $m "run"))))`),
    );
    expect(linked.run(RUN).ending).toEqual(trapped("no handle"));
    expect(glue.run(RUN).ending).toMatchObject({ kind: "trapped" });
  });

  it("are not made while a result is freed, through both alike", async () => {
    const { linked, glue } = await bothWays(
      await parse(`(component
        (type $r (resource (rep i32))) (core func $new (canon resource.new $r))
        (core module $m
          (import "t" "new" (func $new (param i32) (result i32)))
          (func (export "run") (result i32) (i32.const 1))
          (func (export "post") (param i32) (drop (call $new (i32.const 1)))))
        (core instance $m (instantiate $m (with "t" (instance (export "new" (func $new))))))
        (func (export "run") (result u32) (canon lift (core func $m "run") (post-return (core func $m "post")))))`),
    );
    expect(linked.run(RUN).ending).toMatchObject({ kind: "trapped", phase: "post" });
    expect(glue.run(RUN).ending).toMatchObject({ kind: "trapped" });
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
