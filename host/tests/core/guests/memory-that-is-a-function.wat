(module
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (import "traverse_host" "capability_id" (func $capability_id (param i32 i32) (result i32)))
  (memory 1)
  (func (export "memory"))
  (func (export "_start") (call $proc_exit (i32.sub (i32.const 0) (call $capability_id (i32.const 0) (i32.const 9))))))
