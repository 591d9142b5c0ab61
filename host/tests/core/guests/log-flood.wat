(module
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  ;; results
  (func (export "_start") (local $at i32)
    (loop $next
      (i32.store (local.get $at) (i32.const 0))
      (i32.store offset=4 (local.get $at) (i32.const 65536))
      (br_if $next (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 8))) (i32.const 800))))
    (call $result (call $fd_write (i32.const 2) (i32.const 0) (i32.const 100) (i32.const 59000)))
    (call $result (i32.load (i32.const 59000)))
    (call $print)))
