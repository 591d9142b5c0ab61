/** A way on which the bits of a NaN become an integer; the instructions leave an i64. */
export type NanRoute = readonly [what: string, body: string];

/** 0/0 of constants, which one compiler computes and the other folds. */
const F64 = "f64.const 0 f64.const 0 f64.div";
const F32 = `${F64} f32.demote_f64`;
const LOOK64 = "i64.reinterpret_f64";
const LOOK32 = "i32.reinterpret_f32 i64.extend_i32_s";

/** The bits of each are those that the compiler chose for 0/0. */
export const NAN_ROUTES: readonly NanRoute[] = [
  ["a reinterpreted f64", `${F64} ${LOOK64}`],
  ["a reinterpreted f32", `${F32} ${LOOK32}`],
  ["a stored f64", `i32.const 8 ${F64} f64.store i32.const 8 i64.load`],
  ["a stored f32", `i32.const 8 ${F32} f32.store i32.const 8 i64.load32_s`],
  ["the sign of copysign", `f64.const 1 ${F64} f64.copysign ${LOOK64}`],
  ["the sign of copysign, f32", `f32.const 1 ${F32} f32.copysign ${LOOK32}`],
  ["the magnitude of copysign", `${F64} ${F64} f64.copysign ${LOOK64}`],
  ["neg and abs", `${F64} f64.neg f64.const 1 f64.copysign f64.abs drop ${F64} f64.neg ${LOOK64}`],
  ["a local", `${F64} local.set $x local.get $x ${LOOK64}`],
  ["a tee", `${F64} local.tee $x ${LOOK64}`],
  ["a global", `${F64} global.set $g global.get $g ${LOOK64}`],
  ["a select", `${F64} f64.const 1 i32.const 1 select ${LOOK64}`],
  ["the result of a block", `block (result f64) ${F64} br 0 end ${LOOK64}`],
  ["the result of an if", `i32.const 1 if (result f64) ${F64} else f64.const 1 end ${LOOK64}`],
  ["the parameter of a block", `${F64} block (param f64) (result i64) ${LOOK64} end`],
  ["an operand below a block", `${F64} block end ${LOOK64}`],
  ["a branch that is not taken", `block (result f64) ${F64} i32.const 0 br_if 0 end ${LOOK64}`],
  ["a br_table", `block (result f64) ${F64} i32.const 5 br_table 0 0 end ${LOOK64}`],
  ["a call", `${F64} call $look`],
  ["the result of a call", `call $quotient ${LOOK64}`],
  ["an indirect call", `i32.const 0 call_indirect (type $makes) ${LOOK64}`],
  ["a tail call", `call $tail ${LOOK64}`],
  ["the host", `${F64} call $same ${LOOK64}`],
  ["the host, f32", `${F32} call $same32 ${LOOK32}`],
  ["a lane of f64x2", `${F64} f64x2.splat i64x2.extract_lane 0`],
  ["a lane of f32x4", `${F32} f32x4.splat i64x2.extract_lane 0`],
  ["a replaced lane", `v128.const i64x2 0 0 ${F64} f64x2.replace_lane 1 i64x2.extract_lane 1`],
  ["a lane on its way", `${F64} f64x2.splat f64x2.extract_lane 1 ${LOOK64}`],
  ["promote", `${F32} f64.promote_f32 ${LOOK64}`],
];

/** Others, of which compilers may make the same. */
export const MORE_NAN_ROUTES: readonly NanRoute[] = [
  ...["ceil", "floor", "trunc", "nearest", "sqrt"].flatMap((op): NanRoute[] => [
    [`f64.${op}`, `f64.const nan:0x4000000000001 f64.${op} ${LOOK64}`],
    [`f32.${op}`, `f32.const nan:0x200001 f32.${op} ${LOOK32}`],
    [`f64x2.${op}`, `f64.const nan:0x4000000000001 f64x2.splat f64x2.${op} i64x2.extract_lane 1`],
    [`f32x4.${op}`, `f32.const nan:0x200001 f32x4.splat f32x4.${op} i64x2.extract_lane 1`],
  ]),
  ...["add", "sub", "mul", "div", "min", "max"].flatMap((op): NanRoute[] => [
    [`f64.${op}`, `f64.const nan:0x4000000000001 call $marked f64.${op} ${LOOK64}`],
    [`f32.${op}`, `f32.const nan:0x200001 call $marked32 f32.${op} ${LOOK32}`],
    [`f64x2.${op}`, `f64.const -nan:0x1 f64x2.splat call $marked f64x2.splat f64x2.${op} i64x2.extract_lane 1`],
    [`f32x4.${op}`, `f32.const -nan:0x1 f32x4.splat call $marked32 f32x4.splat f32x4.${op} i64x2.extract_lane 1`],
  ]),
  ["f32 of 0/0", `f32.const 0 f32.const 0 f32.div ${LOOK32}`],
  ["f64x2 of 0/0", "v128.const i64x2 0 0 v128.const i64x2 0 0 f64x2.div i64x2.extract_lane 0"],
  ["demoted lanes", "f64.const -nan:0x4000000000001 f64x2.splat f32x4.demote_f64x2_zero i64x2.extract_lane 0"],
  ["promoted lanes", "f32.const -nan:0x200001 f32x4.splat f64x2.promote_low_f32x4 i64x2.extract_lane 0"],
];

/** A module whose `run` answers the bits that came by the route, and burns much more when the sign is set. */
export function lookingAlong([, body]: NanRoute): string {
  return `(module
    (type $makes (func (result f64)))
    (import "host" "same" (func $same (param f64) (result f64)))
    (import "host" "same" (func $same32 (param f32) (result f32)))
    (memory 1) (table funcref (elem $quotient))
    (global $g (mut f64) (f64.const 0))
    (func $quotient (type $makes) ${F64})
    (func $tail (type $makes) return_call $quotient)
    (func $look (param f64) (result i64) local.get 0 ${LOOK64})
    (func $marked (result f64) f64.const -nan:0x8000000000003)
    (func $marked32 (result f32) f32.const -nan:0x400003)
    (func (export "run") (result i64) (local $x f64) (local $n i32) (local $bits i64)
      ${body} local.tee $bits i64.const 0 i64.lt_s
      if i32.const 100 local.set $n
        loop local.get $n i32.const 1 i32.sub local.tee $n br_if 0 end
      end
      local.get $bits))`;
}
