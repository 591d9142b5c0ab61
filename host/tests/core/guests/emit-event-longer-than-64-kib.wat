(module
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "traverse_host" "emit_event" (func $emit_event (param i32 i32) (result i32)))
  ;; results
  (data (i32.const 1024) "{\"event_id\":\"said\",\"version\":\"1.0.0\"}")
  (func (export "_start")
    ;; the event with spaces behind it, in a memory that has place for more
    (drop (memory.grow (i32.const 2)))
    (memory.fill (i32.const 65536) (i32.const 32) (i32.const 65537))
    (memory.copy (i32.const 65536) (i32.const 1024) (i32.const 37))
    ;; a byte too long
    (call $result (call $emit_event (i32.const 65536) (i32.const 65537)))
    ;; as long as it may be
    (call $result (call $emit_event (i32.const 65536) (i32.const 65536)))
    (call $print)))
