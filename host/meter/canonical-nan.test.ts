import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { meter } from "./meter.ts";
import { assembleText, type Guest, instantiate } from "./testing/guest.ts";
import { byteChanges, mutate } from "./testing/mutation.ts";

const CANONICAL = 0x7ff8000000000000n;
const CANONICAL_32 = 0x7fc00000;
/** Quiet, so that JavaScript hands it on as it is. */
const MARKED = 0x7ff8dead00000000n;

describe("canonicalNan", () => {
  test("a NaN that is only moved keeps its bits", async () => {
    const guest = await exact(`(module (memory 1) (global $g (mut f64) (f64.const 0)) (table funcref (elem $same))
      (type $unary (func (param f64) (result f64)))
      (func $same (type $unary) local.get 0)
      (func $pair (param f64) (result f64 f64) local.get 0 local.get 0)
      (func (export "memory") (param i64) (result i64)
        i32.const 0 local.get 0 i64.store i32.const 8 i32.const 0 f64.load f64.store i32.const 8 i64.load)
      (func (export "moves") (param i64) (result i64) (local f64)
        local.get 0 f64.reinterpret_i64 call $same i32.const 0 call_indirect (type $unary) call $pair drop
        global.set $g global.get $g local.tee 1 f64.const 1 i32.const 1 select block (param f64) (result f64) end
        f64.neg f64.neg f64x2.splat f64x2.extract_lane 1 i64.reinterpret_f64)
      (func (export "short") (param i32) (result i32) (local f32)
        local.get 0 f32.reinterpret_i32 f32.const 1 f32.copysign local.tee 1 f32.abs i32.reinterpret_f32))`);
    for (const bits of [MARKED, 0x7ff0000000000001n, 0x7ff4000000000000n]) {
      expect(unsigned(guest.call("memory", bits).result)).toBe(bits);
      expect(unsigned(guest.call("moves", bits).result)).toBe(bits);
    }
    for (const bits of [0x7f800001, 0x7fdeadbe]) expect(guest.call("short", bits).result).toBe(bits);
  });

  test("what comes from the host is canonical: results of imports, parameters of exports", async () => {
    const nan = new Float64Array(BigUint64Array.of(MARKED).buffer)[0]!;
    const guest = await exact(
      `(module (type $makes (func (result f64)))
        (import "host" "one" (func $one (type $makes)))
        (import "host" "short" (func $short (result f32)))
        (import "host" "many" (func $many (result f64 i64 f32 externref f64)))
        (table funcref (elem $one))
        (func $tail (type $makes) return_call $one)
        (func $twice (type $makes) return_call $tail)
        (func (export "one") (result i64) call $one i64.reinterpret_f64)
        (func (export "short") (result i32) call $short i32.reinterpret_f32)
        (func (export "indirect") (result i64) i32.const 0 call_indirect (type $makes) i64.reinterpret_f64)
        (func (export "tail") (result i64) call $twice i64.reinterpret_f64)
        (func (export "many") (result i64) (local i64 f32)
          call $many i64.reinterpret_f64 local.set 0 drop i32.reinterpret_f32 i64.extend_i32_u
          local.get 0 i64.xor i64.xor local.set 0 i64.reinterpret_f64 local.get 0 i64.xor)
        (func (export "parameter") (param i32 f64) (result i64) local.get 1 i64.reinterpret_f64)
        (func (export "parameter32") (param f32 i64) (result i32) local.get 0 i32.reinterpret_f32))`,
      { host: { one: () => nan, short: () => nan, many: () => [nan, 5n, nan, {}, nan] } },
    );
    for (const name of ["one", "indirect", "tail"]) expect([name, guest.call(name).result]).toEqual([name, CANONICAL]);
    expect(guest.call("short").result).toBe(CANONICAL_32);
    expect(guest.call("many").result).toBe(5n ^ BigInt(CANONICAL_32));
    expect(guest.call("parameter", 1, nan).result).toBe(CANONICAL);
    expect(guest.call("parameter32", nan, 2n).result).toBe(CANONICAL_32);
  });

  test("parameters that an export does not read are left as they are, and small", async () => {
    const type = `(type $wide (func (param ${"f64 ".repeat(1_000)})))`;
    const bytes = await assembleText(`(module ${type}
      ${Array.from({ length: 100 }, (_, index) => `(func (export "f${index}") (type $wide))`).join(" ")})`);
    const plain = meter(bytes).bytes.length;
    expect(meter(bytes, { canonicalNan: true }).bytes.length).toBe(plain);
  });

  test("operands that lie below thousands of branches are looked at once", async () => {
    const operands = "f64.const 0 ".repeat(60_000);
    const branches = "local.get 0 br_if 0 ".repeat(60_000);
    const bytes = await assembleText(`(module (func (param i32) ${operands} ${branches} return))`);
    expect(meter(bytes, { canonicalNan: true, caps: { bodyBytes: 2 ** 20 } }).report.functions.defined).toBe(1);
  });

  test("what is made at a height that a branch looked at before is looked at again", async () => {
    const nan = "f64.const 0 f64.const 0 f64.div";
    const text = (body: string) => `(module (func $made (param i32) (result f64) ${body})
      (func (export "run") (result i64) i32.const 0 call $made i64.reinterpret_f64))`;
    for (const body of [
      `${nan} local.get 0 br_if 0 drop ${nan}`,
      `${nan} block (param f64) drop end ${nan} local.get 0 br_if 0`,
      `(local f64) ${nan} local.set 1 f64.const 1 block (param f64) drop end local.get 1 local.get 0 br_if 0`,
      `local.get 0 if (result f64) ${nan} else ${nan} end`,
      `block (result f64) ${nan} local.get 0 br_if 0 drop ${nan} br 0 end`,
    ]) {
      expect([body, unsigned((await exact(text(body))).call("run").result)]).toEqual([body, CANONICAL]);
    }
  });

  test("numbers stay what they are, infinities and zeros too", async () => {
    const guest = await exact(`(module
      (func (export "half") (param f64) (result i64) local.get 0 f64.const 0.5 f64.mul i64.reinterpret_f64)
      (func (export "lanes") (param f64 f64) (result i64)
        local.get 0 f64x2.splat local.get 1 f64x2.replace_lane 1 f64x2.sqrt i64x2.extract_lane 1))`);
    for (const value of [0, -0, 1, -2.5, 1e-100, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      expect(guest.call("half", value).result).toBe(bitsOf(value * 0.5));
      expect(guest.call("lanes", -1, value * value).result).toBe(bitsOf(Math.abs(value)));
    }
    expect(guest.call("lanes", 4, -1).result).toBe(CANONICAL);
  });

  test("nothing is put in where no instruction can tell one NaN from another", async () => {
    const blind = await assembleText(`(module (func (param f64 f64) (result i32) (local i32)
      local.get 0 local.get 1 f64.mul local.get 0 f64.sqrt f64.add f32.demote_f64 f32.ceil f64.promote_f32
      f64.const 1 f64.lt local.get 0 local.get 1 f64.div i32.trunc_sat_f64_u i32.add local.get 0 f64.floor drop))`);
    expect(meter(blind, { canonicalNan: true }).bytes).toEqual(meter(blind).bytes);
    const sighted = await assembleText("(module (func (param f64) (result f64) local.get 0 f64.sqrt))");
    expect(meter(sighted, { canonicalNan: true }).bytes.length).toBeGreaterThan(meter(sighted).bytes.length);
  });

  test("a local holds any NaN that arithmetic made and none that the guest's bits could be taken for", async () => {
    const guest = await exact(`(module (memory 1) (data (i32.const 0) "\\00\\00\\00\\00\\ad\\de\\f8\\7f")
      (func $made (export "made") (param f64 i32) (result i64) (local $x f64) (local $y f64)
        loop
          local.get $y i64.reinterpret_f64 i64.const 0 i64.lt_s if unreachable end
          local.get $x local.set $y
          local.get 0 local.get 0 f64.div f64.neg f64.sqrt local.tee $x f64.const 1 f64.add local.set $x
          local.get 1 i32.const 1 i32.sub local.tee 1 br_if 0
        end
        local.get $y i64.reinterpret_f64)
      (func (export "mixed") (param i32) (result i64) (local $x f64)
        local.get 0 if i32.const 0 f64.load local.set $x else f64.const 0 f64.const 0 f64.div local.set $x end
        local.get $x i64.reinterpret_f64)
      (func (export "lanes") (param f64) (result i64) (local $v v128)
        local.get 0 f64x2.splat f64x2.sqrt local.set $v
        local.get $v local.get $v f64x2.add local.tee $v i64x2.extract_lane 1))`);
    expect(guest.call("made", 0, 5).result).toBe(CANONICAL);
    expect(unsigned(guest.call("mixed", 1).result)).toBe(0x7ff8dead00000000n);
    expect(guest.call("mixed", 0).result).toBe(CANONICAL);
    expect(guest.call("lanes", -1).result).toBe(CANONICAL);
  });

  test("handlers and dead code are followed", async () => {
    const guest = await exact(`(module (tag $t (param f64))
      (func $throws (param f64) local.get 0 local.get 0 f64.div throw $t)
      (func (export "caught") (param f64) (result i64)
        i32.const 7 try (result f64) local.get 0 call $throws f64.const 3 catch $t catch_all f64.const 2 end
        i64.reinterpret_f64 br 0 f64.add block f64.const 1 f64.const 2 f64.mul drop unreachable end drop))`);
    expect(guest.call("caught", 0).result).toBe(CANONICAL);
  });

  test("a module that was changed at random is refused or valid, as it is without", async () => {
    const bytes = await assembleText(`(module (tag $t (param f64)) (memory 1) (table funcref (elem 0))
      (func (export "a") (param f64 i32) (result f64) (local v128 f32)
        local.get 0 f64.sqrt local.get 0 f64.add local.get 1 if (result f64) local.get 0 f64.neg
        else i32.const 0 f64.load end f64.mul local.get 0 f64x2.splat f64x2.floor local.tee 2 f64x2.extract_lane 1
        block (param f64) (result f64) local.get 1 br_table 0 0 end f64.min
        try (param f64) (result f64) local.get 1 call 0 catch $t catch_all f64.const 1 end
        local.get 0 f32.demote_f64 local.tee 3 i32.reinterpret_f32 i32.const 0 call_indirect (param f64 i32) (result f64)))`);
    const options = { callDepth: true, canonicalNan: true };
    let metered = 0;
    fc.assert(
      fc.property(byteChanges, (changes) => {
        const changed = mutate(bytes, changes);
        const plain = attempt(() => meter(changed).bytes);
        const exactly = attempt(() => meter(changed, options).bytes);
        expect(typeof exactly === "string" ? exactly : "valid").toBe(typeof plain === "string" ? plain : "valid");
        if (typeof exactly !== "string") metered++;
      }),
      { numRuns: 2_000, seed: 21 },
    );
    expect(metered).toBeGreaterThan(100);
  });
});

function exact(text: string, imports: Record<string, Record<string, unknown>> = {}): Promise<Guest> {
  return instantiate(text, { options: { canonicalNan: true }, imports });
}

function attempt(make: () => Uint8Array): Uint8Array | string {
  try {
    return make();
  } catch (error) {
    return (error as Error).message;
  }
}

function unsigned(bits: unknown): bigint {
  return BigInt.asUintN(64, bits as bigint);
}

function bitsOf(value: number): bigint {
  return new BigInt64Array(Float64Array.of(value).buffer)[0]!;
}
