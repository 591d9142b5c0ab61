(module
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "traverse_host" "emit_event" (func $emit_event (param i32 i32) (result i32)))
  ;; results
  (data (i32.const 1024) "{\"event_id\":\"said\",\"version\":\"1.0.0\",\"payload\":{\"n\":1}}")
  (data (i32.const 1087) "{\"event_id\":\"said\",\"version\":\"1.0.0\"}")
  (data (i32.const 1132) "{\"event_id\"")
  (data (i32.const 1151) "[1]")
  (data (i32.const 1162) "null")
  (data (i32.const 1174) "{\"event_id\":1,\"version\":\"1.0.0\"}")
  (data (i32.const 1214) "{\"version\":\"1.0.0\"}")
  (data (i32.const 1241) "{\"event_id\":\"said\",\"version\":1}")
  (data (i32.const 1280) "{\"event_id\":\"said\"}")
  (data (i32.const 1307) "{\"event_id\":\"shouted\",\"version\":null}")
  (data (i32.const 1352) "{\"event_id\":\"shouted\",\"version\":\"1.0.0\"}")
  (data (i32.const 1400) "{\"event_id\":\"said\",\"version\":\"1.0.1\"}")
  (data (i32.const 1445) "{\"event_id\":\"shouted\",\"version\":\"1.0.0\",\"payload\":{\"n\":\"one\"}}")
  (data (i32.const 1515) "{\"event_id\":\"said\",\"version\":\"1.0.0\",\"payload\":{\"n\":\"one\"}}")
  (data (i32.const 1582) "{\"event_id\":\"said\",\"version\":\"1.0.0\",\"payload\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}")
  (data (i32.const 1778) "{\"event_id\":\"said\",\"version\":\"1.0.0\",\"payload\":\"\ff\"}")
  (func (export "_start")
    ;; a negative pointer
    (call $result (call $emit_event (i32.const -1) (i32.const 10)))
    ;; a negative length
    (call $result (call $emit_event (i32.const 1024) (i32.const -1)))
    ;; both as negative as can be
    (call $result (call $emit_event (i32.const -2147483648) (i32.const -2147483648)))
    ;; longer than 64 KiB, and out of bounds
    (call $result (call $emit_event (i32.const 0) (i32.const 65537)))
    ;; all of the memory: inside, and no JSON
    (call $result (call $emit_event (i32.const 0) (i32.const 65536)))
    ;; nothing, at the end
    (call $result (call $emit_event (i32.const 65536) (i32.const 0)))
    ;; one byte past the end
    (call $result (call $emit_event (i32.const 65536) (i32.const 1)))
    ;; across the end
    (call $result (call $emit_event (i32.const 65535) (i32.const 2)))
    ;; far away
    (call $result (call $emit_event (i32.const 2147483647) (i32.const 65536)))
    ;; good
    (call $result (call $emit_event (i32.const 1024) (i32.const 55)))
    ;; without a payload it is an empty object
    (call $result (call $emit_event (i32.const 1087) (i32.const 37)))
    ;; not JSON
    (call $result (call $emit_event (i32.const 1132) (i32.const 11)))
    ;; no object
    (call $result (call $emit_event (i32.const 1151) (i32.const 3)))
    ;; null
    (call $result (call $emit_event (i32.const 1162) (i32.const 4)))
    ;; event_id is no string
    (call $result (call $emit_event (i32.const 1174) (i32.const 32)))
    ;; event_id is missing
    (call $result (call $emit_event (i32.const 1214) (i32.const 19)))
    ;; version is no string
    (call $result (call $emit_event (i32.const 1241) (i32.const 31)))
    ;; version is missing
    (call $result (call $emit_event (i32.const 1280) (i32.const 19)))
    ;; invalid before undeclared: both are wrong, and version is no string
    (call $result (call $emit_event (i32.const 1307) (i32.const 37)))
    ;; the type is not declared
    (call $result (call $emit_event (i32.const 1352) (i32.const 40)))
    ;; the version is not declared
    (call $result (call $emit_event (i32.const 1400) (i32.const 37)))
    ;; undeclared before the schema
    (call $result (call $emit_event (i32.const 1445) (i32.const 62)))
    ;; the payload breaks the schema of the manifest
    (call $result (call $emit_event (i32.const 1515) (i32.const 59)))
    ;; nested too deep
    (call $result (call $emit_event (i32.const 1582) (i32.const 188)))
    ;; not UTF-8
    (call $result (call $emit_event (i32.const 1778) (i32.const 51)))
    (call $print)))
