(module
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  ;; results
  (func $vectors (param $at i32) (param $to i32)
    (loop $next
      (i32.store (local.get $at) (i32.const 0))
      (i32.store offset=4 (local.get $at) (i32.const 524288))
      (br_if $next (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 8))) (local.get $to)))))
  (func (export "_start")
    (drop (memory.grow (i32.const 7)))
    (call $vectors (i32.const 65536) (i32.const 131072))
    (call $result (call $fd_write (i32.const 2) (i32.const 65536) (i32.const 8192) (i32.const 1100)))
    (call $result (call $fd_write (i32.const 2) (i32.const 65536) (i32.const 8191) (i32.const 1100)))
    (call $print)))
