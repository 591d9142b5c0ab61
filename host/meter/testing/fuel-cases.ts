/** What it shows, the body of a function without parameters, and the fuel that it uses, by hand from the schedule. */
export type FuelCase = readonly [what: string, body: string, fuel: number];

/** A module around the body of `run`; the rest is there for bodies to use. */
export function around(body: string, result = ""): string {
  return `(module
    (import "host" "note" (func $note (param i32)))
    (memory 1 8) (data $d "abcdefgh")
    (table $t 8 64 funcref) (elem $e func $small $small)
    (global $g (mut i32) (i32.const 5))
    (type $unit (func))
    (func $small)
    (func $wide (local i32 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64
      i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64))
    (func $pair (result i32 i32) i32.const 1 i32.const 2)
    (func $least (param i32 i32) (result i32) local.get 0 local.get 1 i32.lt_s if (result i32) local.get 0 else
      local.get 1 end)
    (func $middle (param i32 i32 i32) (result i32) local.get 0 local.get 1 call $least local.get 2 call $least)
    (func $forty (local i32) ${"local.get 0 local.set 0 ".repeat(20)})
    (func $more (local i32) local.get 0 if ${"local.get 0 local.set 0 ".repeat(20)} end)
    (elem (table $t) (i32.const 0) func $small)
    (func (export "run") ${result} (local $i i32) (local $x i32) ${body}))`;
}

export const CASES: readonly FuelCase[] = [
  ["nothing", "", 0],
  ["nop, block, loop and drop cost nothing", "nop block loop nop end end i32.const 1 drop", 1],
  ["a constant of each type is 1", "i32.const 1 drop i64.const 1 drop f32.const 1 drop f64.const 1 drop", 4],
  ["arithmetic is 1", "i32.const 1 i32.const 2 i32.add i32.const 3 i32.mul i32.eqz drop", 6],
  ["locals are 1", "local.get $i local.tee $x local.set $i", 3],
  ["globals are 1", "global.get $g global.set $g", 2],
  [
    "select is 1, typed or not",
    "i32.const 1 i32.const 2 i32.const 1 select drop ref.null func ref.null func i32.const 0 select (result funcref) drop",
    8,
  ],
  ["a load or store is 2", "i32.const 0 i32.const 0 i32.load i32.store8", 6],
  ["memory.size is 1", "memory.size drop", 1],
  [
    "integer division and remainder are 16",
    "i32.const 7 i32.const 3 i32.div_s i32.const 2 i32.rem_u drop i64.const 7 i64.const 3 i64.div_u i64.const 3 i64.rem_s drop",
    6 + 64,
  ],
  [
    "float division and square root are 16",
    "f64.const 7 f64.const 3 f64.div f64.sqrt drop f32.const 7 f32.const 3 f32.div f32.sqrt drop",
    4 + 64,
  ],
  ["sign extension is 1", "i32.const 200 i32.extend8_s drop i64.const 1 i64.extend32_s drop", 4],
  ["a saturating conversion is 1", "f64.const 1e30 i32.trunc_sat_f64_s drop f32.const 1 i64.trunc_sat_f32_u drop", 4],
  [
    "SIMD is 1, its loads and stores 2",
    "i32.const 0 i32.const 16 v128.load v128.store i32.const 0 i32.const 0 v128.load8_splat v128.store8_lane 3",
    12,
  ],
  [
    "SIMD constants, shuffles and lanes are 1",
    "v128.const i32x4 1 2 3 4 v128.const i64x2 1 2 i8x16.shuffle 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 i32x4.extract_lane 1 drop",
    4,
  ],
  [
    "SIMD division and square root are 16 a lane",
    "v128.const f32x4 1 2 3 4 v128.const f32x4 1 2 3 4 f32x4.div f32x4.sqrt drop v128.const f64x2 1 2 v128.const f64x2 1 2 f64x2.div f64x2.sqrt drop",
    4 + 2 * 64 + 2 * 32,
  ],
  ["references are 1", "ref.null func ref.is_null drop ref.func $small drop", 3],
  [
    "table.get is 2, table.set 500, table.size 1",
    "i32.const 3 i32.const 0 table.get $t table.set $t table.size $t drop",
    505,
  ],
  [
    "if is 1, its arms cost what they hold",
    "local.get $i if nop i32.const 1 drop else i32.const 1 i32.const 2 drop drop end",
    4,
  ],
  ["if without else is 1 when not taken", "local.get $i if i32.const 1 drop i32.const 1 drop end", 2],
  ["if without else is 1 and its arm when taken", "i32.const 1 if i32.const 1 drop i32.const 1 drop end", 4],
  ["br is 1 and skips what follows", "block br 0 i32.const 1 drop end", 1],
  ["br_if is 1 either way", "block i32.const 0 br_if 0 i32.const 1 br_if 0 i32.const 9 drop end", 4],
  ["br_table is 1", "block block i32.const 1 br_table 0 1 end i32.const 1 drop end", 2],
  ["return is 1", "return", 1],
  [
    "a loop costs each round",
    "loop local.get $i i32.const 1 i32.add local.tee $i i32.const 10 i32.lt_u br_if 0 end",
    70,
  ],
  ["code behind a branch costs nothing", "block br 0 memory.size memory.grow drop call $small end", 1],
  ["a call is 8", "call $small", 8],
  ["a call of a function with 40 locals is 8 more", "call $wide", 16],
  ["results of a call are not charged", "call $pair drop drop", 10],
  ["a call of a leaf is 8 and all that the leaf holds", "i32.const 1 i32.const 2 call $least drop", 10 + 6],
  [
    "a leaf pays for the leaves that it calls",
    "i32.const 1 i32.const 2 i32.const 3 call $middle drop",
    3 + 8 + 3 + 2 * (8 + 6),
  ],
  ["a leaf costs at most 40, what costs more pays for the path it takes", "call $forty call $more", 8 + 40 + 8 + 2],
  [
    "what was used before an arm that is not taken is not lost when the arm calls and a call follows",
    `loop local.get $i i32.const 1 i32.add local.tee $i i32.const 10 i32.lt_u br_if 0 end local.get $x if i32.const 1 ${"i32.eqz ".repeat(64)} drop call $more i32.const 1 i32.const 1 drop drop end call $more`,
    70 + 2 + 8 + 2,
  ],
  [
    "nor when the other arm calls",
    "loop local.get $i i32.const 1 i32.add local.tee $i i32.const 10 i32.lt_u br_if 0 end local.get $x if i32.const 1 drop else call $more end",
    70 + 2 + 8 + 2,
  ],
  ["an indirect call is 16 and 40 for a leaf", "i32.const 0 call_indirect (type $unit)", 57],
  ["an imported call is 150", "i32.const 1 call $note", 151],
  ["a tail call is 8", "return_call $small", 8],
  ["an indirect tail call is 16 and 40 for a leaf", "i32.const 0 return_call_indirect (type $unit)", 57],
  ["an imported tail call is 150", "i32.const 0 return_call $note", 151],
  ["memory.fill is 64 and 1 a byte", "i32.const 0 i32.const 7 i32.const 1000 memory.fill", 3 + 1_064],
  ["memory.copy is 64 and 1 a byte", "i32.const 0 i32.const 8 i32.const 100 memory.copy", 3 + 164],
  [
    "memory.init is 64 and 1 a byte, data.drop 1",
    "i32.const 0 i32.const 0 i32.const 8 memory.init $d data.drop $d",
    3 + 72 + 1,
  ],
  ["table.fill is 64 and 128 an element", "i32.const 0 ref.null func i32.const 4 table.fill $t", 3 + 64 + 512],
  ["table.copy is 64 and 128 an element", "i32.const 0 i32.const 4 i32.const 2 table.copy $t $t", 3 + 64 + 256],
  [
    "table.init is 64 and 128 an element, elem.drop 1",
    "i32.const 0 i32.const 0 i32.const 2 table.init $t $e elem.drop $e",
    3 + 64 + 256 + 1,
  ],
  ["table.grow is 5,000 and 128 an element", "ref.null func i32.const 3 table.grow $t drop", 2 + 5_000 + 384],
  ["memory.grow is 50,000 and 16,384 a page", "i32.const 2 memory.grow drop", 1 + 50_000 + 32_768],
  ["growth that fails costs the same", "i32.const 100 memory.grow drop", 1 + 50_000 + 1_638_400],
];
