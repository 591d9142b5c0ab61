(module
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "traverse_host" "emit_event" (func $emit_event (param i32 i32) (result i32)))
  ;; results
  (data (i32.const 1024) "{\"event_id\":\"said\",\"version\":\"1.0.0\"}")
  (func (export "_start")
    (call $result (call $emit_event (i32.const 1024) (i32.const 37)))
    ;; the second is one too many
    (call $result (call $emit_event (i32.const 1024) (i32.const 37)))
    (call $print)))
