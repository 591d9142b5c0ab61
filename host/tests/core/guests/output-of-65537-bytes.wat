(module
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  ;; results
  (func (export "_start")
    (memory.fill (i32.const 1024) (i32.const 0x20) (i32.const 32768))
    (i32.store8 (i32.const 1024) (i32.const 0x37))
    (call $write (i32.const 1024) (i32.const 32768))
    (i32.store8 (i32.const 1024) (i32.const 0x20))
    (call $write (i32.const 1024) (i32.const 32768))
    (call $write (i32.const 1024) (i32.const 1))))
