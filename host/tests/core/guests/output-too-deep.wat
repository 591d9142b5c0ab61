(module
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  ;; results
  (func (export "_start")
    (memory.fill (i32.const 1024) (i32.const 0x5b) (i32.const 100))
    (memory.fill (i32.const 1124) (i32.const 0x5d) (i32.const 100))
    (call $write (i32.const 1024) (i32.const 200))))
