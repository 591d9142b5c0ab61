import { aroundThrowing } from "./exception-cases.ts";

/** A module with a bit of everything that every version accepts, to be changed into something hostile. */
export const SAMPLE = `(module $sample
  (type $unit (func)) (import "host" "note" (func $note (param i32) (result i32))) (import "host" "g" (global $ig i32))
  (memory 1 4) (table $t 4 funcref) (table $x 2 9 externref)
  (global $g (mut i64) (i64.const 9)) (global $h f64 (f64.const 1.5)) (export "g" (global $g)) (export "m" (memory 0))
  (start $start) (elem (i32.const 1) func $start) (elem $e func $start) (elem declare func $pair)
  (data (i32.const 8) "data") (data $d "passive")
  (func $start (local i32 i32) loop local.get 0 i32.const 1 i32.add local.tee 0 i32.const 9 i32.lt_u br_if 0 end)
  (func $pair (param $p i32) (result i32 i64)
    block block block local.get $p br_table 0 1 2 end local.get $p call $note drop end
    local.get $p if i32.const 3 i64.const 4 return end end
    i32.const 1 memory.grow drop ref.null extern i32.const 1 table.grow $x drop global.get $g global.set $g
    i32.const 0 i32.const 0 i32.const 4 memory.init $d i32.const 0 i32.const 0 i32.const 1 table.init $t $e
    v128.const i32x4 1 2 3 4 i32x4.extract_lane 2 i64.const 7)
  (func (export "run") (result i32) i32.const 1 call $pair drop))`;

/** The same with handlers. */
export const THROWING_SAMPLE =
  aroundThrowing(`loop try try call $middle i32.const 3 call $note drop delegate 0 catch $t i32.const 1 drop
      catch_all try local.get $i br_if 1 throw $t catch $p drop drop catch_all rethrow 1 end end
      local.get $i i32.const 1 i32.add local.tee $i i32.const 5 i32.lt_u br_if 0 end`);
