(module
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "traverse_host" "emit_event" (func $emit_event (param i32 i32) (result i32)))
  ;; results
  (func (export "_start")
    ;; before pointers are looked at
    (call $result (call $emit_event (i32.const -1) (i32.const -1)))
    ;; before lengths are
    (call $result (call $emit_event (i32.const 65536) (i32.const 65537)))
    (call $result (call $emit_event (i32.const 0) (i32.const 0)))
    (call $print)))
