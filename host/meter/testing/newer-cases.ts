/** What a run of `run` without parameters does, on versions of Node that accept the module; fuel by hand. */
export interface NewerCase {
  readonly what: string;
  readonly text: string;
  readonly used: number;
  readonly result?: unknown;
  readonly ending?: "trapped";
  /** Fuel that was used when the import `note` was called. */
  readonly noted?: number;
  /** Pages and elements that growth took. */
  readonly pages?: number;
  readonly elements?: number;
  readonly refused?: number;
}

/** Features in the words of the meter, the first version of Node that has each, and its cases. */
export const NEWER_CASES: readonly {
  readonly feature: string;
  readonly since: number;
  readonly cases: readonly NewerCase[];
}[] = [
  { feature: "typed function references", since: 22, cases: references() },
  { feature: "more than one memory", since: 22, cases: memories() },
  { feature: "64-bit memories", since: 24, cases: wideMemories() },
  { feature: "64-bit tables", since: 24, cases: wideTables() },
  { feature: "extended constant expressions", since: 22, cases: constants() },
];

function references(): NewerCase[] {
  const around = (body: string, locals = "") => `(module (type $unit (func)) (type $f (func (param i32) (result i32)))
    (import "host" "note" (func $note (type $f)))
    (table $t 3 9 (ref $unit) (ref.func $u)) (global $r (mut (ref null $unit)) (ref.func $u))
    (elem declare func $u $note $again) (elem $e (ref null $unit) (ref.func $u) (ref.null $unit))
    (func $u)
    (func $give (param i32) (result (ref $unit) i32) loop local.get 0 br_if 0 end ref.func $u i32.const 1)
    (func $again (type $unit) ref.func $u return_call_ref $unit)
    (func (export "run") ${locals} ${body}))`;
  return [
    { what: "call_ref is 16 and 40 for a leaf", text: around("ref.func $u call_ref $unit"), used: 57 },
    { what: "return_call_ref is too", text: around("ref.func $again return_call_ref $unit"), used: 114 },
    { what: "ref.as_non_null is 1", text: around("ref.func $u ref.as_non_null drop"), used: 2 },
    { what: "br_on_null is 1, taken", text: around("block ref.null $unit br_on_null 0 call_ref $unit end"), used: 2 },
    { what: "br_on_null is 1, not taken", text: around("block ref.func $u br_on_null 0 call_ref $unit end"), used: 58 },
    {
      what: "br_on_non_null is 1",
      text: around("block (result (ref $unit)) ref.func $u br_on_non_null 0 unreachable end drop"),
      used: 2,
    },
    { what: "an initialised table", text: around("i32.const 1 table.get $t call_ref $unit"), used: 59 },
    {
      what: "table.grow of such a table",
      text: around("ref.func $u i32.const 2 table.grow $t drop"),
      used: 2 + 5_000 + 256,
      elements: 2,
    },
    {
      what: "a local that cannot be null",
      text: around("ref.func $u local.set $r loop local.get $r call_ref $unit end", "(local $r (ref $unit))"),
      used: 3 + 56,
    },
    { what: "a result of such a type", text: around("i32.const 0 call $give drop call_ref $unit"), used: 9 + 4 + 56 },
    { what: "a global of such a type", text: around("global.get $r ref.as_non_null call_ref $unit"), used: 58 },
    {
      what: "select of such a type",
      text: around("ref.func $u ref.func $u i32.const 1 select (result (ref $unit)) drop"),
      used: 4,
    },
    {
      what: "call_ref of an import finds the counter exact",
      text: around("i32.const 5 ref.func $note call_ref $f drop i32.const 1 drop"),
      used: 59,
      noted: 58,
    },
  ];
}

function memories(): NewerCase[] {
  const around = (body: string, result = "") => `(module (memory $a 1 4) (memory $b 1 4) (memory $c 1 2)
    (data $d "abcdefgh") (data (memory $b) (i32.const 40) "z")
    (func (export "run") ${result} ${body}))`;
  return [
    {
      what: "a load or store is 2",
      text: around(
        "i32.const 0 i32.const 7 i32.store $b i32.const 0 i32.load $b i32.const 0 i32.load $a i32.sub",
        "(result i32)",
      ),
      used: 11,
      result: 7,
    },
    {
      what: "with offset and alignment",
      text: around("i32.const 1 i32.load8_u $b offset=39 align=1", "(result i32)"),
      used: 3,
      result: 122,
    },
    {
      what: "SIMD too",
      text: around(
        "i32.const 0 i32.const 0 v128.load $b v128.store $c i32.const 0 i32.const 0 v128.load8_splat $c v128.store8_lane $b 3",
      ),
      used: 12,
    },
    { what: "memory.fill", text: around("i32.const 0 i32.const 7 i32.const 100 memory.fill $c"), used: 167 },
    { what: "memory.copy", text: around("i32.const 0 i32.const 0 i32.const 50 memory.copy $a $b"), used: 117 },
    { what: "memory.init", text: around("i32.const 0 i32.const 0 i32.const 8 memory.init $b $d"), used: 75 },
    {
      what: "memory.grow of two takes from one counter",
      text: around(
        "i32.const 2 memory.grow $b drop i32.const 1 memory.grow $c drop memory.size $b memory.size $c i32.add",
        "(result i32)",
      ),
      used: 2 + 100_000 + 3 * 16_384 + 3,
      result: 5,
      pages: 3,
    },
    {
      what: "each has a maximum of its own",
      text: around("i32.const 2 memory.grow $c", "(result i32)"),
      used: 1 + 50_000 + 2 * 16_384,
      result: -1,
    },
  ];
}

function wideMemories(): NewerCase[] {
  const around = (body: string, result = "") => `(module (memory $m i64 1 8) (memory $n i64 1 2000) (memory $s 1)
    (data $d "abcdefgh") (data (i64.const 40) "z") (func (export "run") ${result} ${body}))`;
  return [
    {
      what: "a load or store is 2",
      text: around("i64.const 0 i32.const 7 i32.store i64.const 0 i32.load", "(result i32)"),
      used: 7,
      result: 7,
    },
    {
      what: "an offset of 33 bits",
      text: around("i64.const 0 i32.load offset=0x1ffffffff drop"),
      used: 3,
      ending: "trapped",
    },
    { what: "memory.fill", text: around("i64.const 0 i32.const 7 i64.const 100 memory.fill"), used: 167 },
    {
      what: "memory.fill of 2^64 - 1 bytes",
      text: around("i64.const 0 i32.const 7 i64.const -1 memory.fill"),
      used: 67 + 2 ** 40,
      ending: "trapped",
    },
    {
      what: "memory.fill of 2^32 bytes",
      text: around("i64.const 0 i32.const 7 i64.const 0x100000000 memory.fill"),
      used: 67 + 2 ** 32,
      ending: "trapped",
    },
    { what: "memory.copy", text: around("i64.const 0 i64.const 0 i64.const 50 memory.copy $m $n"), used: 117 },
    {
      what: "memory.copy to one of 32 bits",
      text: around("i32.const 0 i64.const 0 i32.const 50 memory.copy $s $m"),
      used: 117,
    },
    { what: "memory.init", text: around("i64.const 0 i32.const 0 i32.const 8 memory.init $d"), used: 75 },
    {
      what: "memory.grow and memory.size",
      text: around("i64.const 2 memory.grow drop memory.size", "(result i64)"),
      used: 2 + 50_000 + 2 * 16_384,
      result: "3n",
      pages: 2,
    },
    {
      what: "its own maximum",
      text: around("i64.const 20 memory.grow", "(result i64)"),
      used: 1 + 50_000 + 20 * 16_384,
      result: "-1n",
    },
    {
      what: "more than the pages left",
      text: around("i64.const 1500 memory.grow $n", "(result i64)"),
      used: 1 + 50_000 + 1_500 * 16_384,
      result: "-1n",
      refused: 1,
    },
    {
      what: "pages past every limit",
      text: around("i64.const -1 memory.grow drop"),
      used: 1 + 50_000 + 2 ** 54,
      ending: "trapped",
    },
  ];
}

function wideTables(): NewerCase[] {
  const around = (
    body: string,
    result = "",
  ) => `(module (table $t i64 4 64 funcref) (table $s 4 funcref) (type $unit (func))
    (func $f) (elem $e func $f $f) (elem (table $t) (i64.const 0) func $f)
    (func (export "run") ${result} ${body}))`;
  return [
    {
      what: "table.get is 2, table.set 500",
      text: around("i64.const 1 i64.const 0 table.get $t table.set $t"),
      used: 504,
    },
    {
      what: "an indirect call is 16 and 40 for a leaf",
      text: around("i64.const 0 call_indirect $t (type $unit)"),
      used: 57,
    },
    { what: "table.fill", text: around("i64.const 0 ref.null func i64.const 2 table.fill $t"), used: 3 + 64 + 256 },
    { what: "table.copy", text: around("i64.const 0 i64.const 1 i64.const 2 table.copy $t $t"), used: 3 + 64 + 256 },
    {
      what: "table.copy to one of 32 bits",
      text: around("i32.const 0 i64.const 1 i32.const 2 table.copy $s $t"),
      used: 3 + 64 + 256,
    },
    { what: "table.init", text: around("i64.const 0 i32.const 0 i32.const 2 table.init $t $e"), used: 3 + 64 + 256 },
    {
      what: "table.grow and table.size",
      text: around("ref.null func i64.const 3 table.grow $t drop table.size $t", "(result i64)"),
      used: 3 + 5_000 + 384,
      result: "7n",
      elements: 3,
    },
    {
      what: "table.fill of 2^63 elements",
      text: around("i64.const 0 ref.null func i64.const 0x8000000000000000 table.fill $t"),
      used: 67 + 2 ** 47,
      ending: "trapped",
    },
  ];
}

function constants(): NewerCase[] {
  const text = `(module (global $a i32 (i32.sub (i32.const 30) (i32.const 1)))
    (global $b i64 (i64.add (i64.const 5) (i64.mul (i64.const 2) (i64.const 3))))
    (global $c i32 (i32.add (global.get $a) (i32.const 1)))
    (memory 1) (data (offset (i32.add (global.get $c) (i32.const 10))) "z")
    (func (export "run") (result i64) i32.const 40 i32.load8_u i64.extend_i32_u global.get $b i64.add))`;
  return [{ what: "of both types, with globals of the module", text, used: 6, result: "133n" }];
}
