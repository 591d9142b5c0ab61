(module
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
  ;; results
  (func $vector (param $at i32) (param $from i32) (param $length i32)
    (i32.store (local.get $at) (local.get $from)) (i32.store offset=4 (local.get $at) (local.get $length)))
  (func (export "_start")
    (call $vector (i32.const 1024) (i32.const 1032) (i32.const 8))
    (call $vector (i32.const 1032) (i32.const 3000) (i32.const 5))
    ;; the input lands on the second vector, which is read as it was
    (call $result (call $fd_read (i32.const 0) (i32.const 1024) (i32.const 2) (i32.const 1100)))
    (call $result (i32.load (i32.const 1100)))
    (call $result (i32.load8_u (i32.const 1033)))
    (call $result (i32.load8_u (i32.const 3000)))
    (call $vector (i32.const 1024) (i32.const 1024) (i32.const 4))
    ;; the result lands on the vector
    (call $result (call $fd_read (i32.const 0) (i32.const 1024) (i32.const 1) (i32.const 1024)))
    (call $result (i32.load (i32.const 1024)))
    (call $print)))
