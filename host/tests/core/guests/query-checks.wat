(module
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "traverse_host" "capability_id" (func $capability_id (param i32 i32) (result i32)))
  (import "traverse_host" "capability_version" (func $capability_version (param i32 i32) (result i32)))
  (import "traverse_host" "runtime_config" (func $runtime_config (param i32 i32) (result i32)))
  (import "traverse_host" "trace_context" (func $trace_context (param i32 i32) (result i32)))
  (import "traverse_host" "execution_id" (func $execution_id (param i32 i32) (result i32)))
  ;; results
  (func (export "_start")
    ;; capability_id: a negative pointer
    (call $result (call $capability_id (i32.const -1) (i32.const 100)))
    ;; a negative capacity
    (call $result (call $capability_id (i32.const 0) (i32.const -1)))
    ;; past the end
    (call $result (call $capability_id (i32.const 65536) (i32.const 1)))
    ;; across the end
    (call $result (call $capability_id (i32.const 65526) (i32.const 11)))
    ;; far away
    (call $result (call $capability_id (i32.const 2147483647) (i32.const 2147483647)))
    ;; exactly enough
    (call $result (call $capability_id (i32.const 1024) (i32.const 17)))
    ;; at the very end
    (call $result (call $capability_id (i32.const 65519) (i32.const 17)))
    ;; one too few
    (call $result (call $capability_id (i32.const 1024) (i32.const 16)))
    ;; nothing
    (call $result (call $capability_id (i32.const 1024) (i32.const 0)))
    ;; capability_version: a negative pointer
    (call $result (call $capability_version (i32.const -1) (i32.const 100)))
    ;; a negative capacity
    (call $result (call $capability_version (i32.const 0) (i32.const -1)))
    ;; past the end
    (call $result (call $capability_version (i32.const 65536) (i32.const 1)))
    ;; across the end
    (call $result (call $capability_version (i32.const 65526) (i32.const 11)))
    ;; far away
    (call $result (call $capability_version (i32.const 2147483647) (i32.const 2147483647)))
    ;; exactly enough
    (call $result (call $capability_version (i32.const 1024) (i32.const 5)))
    ;; at the very end
    (call $result (call $capability_version (i32.const 65531) (i32.const 5)))
    ;; one too few
    (call $result (call $capability_version (i32.const 1024) (i32.const 4)))
    ;; nothing
    (call $result (call $capability_version (i32.const 1024) (i32.const 0)))
    ;; trace_context: a negative pointer
    (call $result (call $trace_context (i32.const -1) (i32.const 100)))
    ;; a negative capacity
    (call $result (call $trace_context (i32.const 0) (i32.const -1)))
    ;; past the end
    (call $result (call $trace_context (i32.const 65536) (i32.const 1)))
    ;; across the end
    (call $result (call $trace_context (i32.const 65526) (i32.const 11)))
    ;; far away
    (call $result (call $trace_context (i32.const 2147483647) (i32.const 2147483647)))
    ;; exactly enough
    (call $result (call $trace_context (i32.const 1024) (i32.const 0)))
    ;; at the very end
    (call $result (call $trace_context (i32.const 65536) (i32.const 0)))
    ;; runtime_config: a negative pointer
    (call $result (call $runtime_config (i32.const -1) (i32.const 100)))
    ;; a negative capacity
    (call $result (call $runtime_config (i32.const 0) (i32.const -1)))
    ;; across the end
    (call $result (call $runtime_config (i32.const 65526) (i32.const 11)))
    ;; nothing
    (call $result (call $runtime_config (i32.const 1024) (i32.const 0)))
    ;; enough
    (call $result (i32.gt_s (call $runtime_config (i32.const 1024) (i32.const 2000)) (i32.const 20)))
    ;; execution_id: a negative pointer
    (call $result (call $execution_id (i32.const -1) (i32.const 100)))
    ;; a negative capacity
    (call $result (call $execution_id (i32.const 0) (i32.const -1)))
    ;; across the end
    (call $result (call $execution_id (i32.const 65526) (i32.const 11)))
    ;; nothing
    (call $result (call $execution_id (i32.const 1024) (i32.const 0)))
    ;; enough
    (call $result (i32.gt_s (call $execution_id (i32.const 1024) (i32.const 2000)) (i32.const 20)))
    ;; what it wrote can be read
    (call $result (call $capability_id (i32.const 1024) (i32.const 17)))
    (call $result (i32.load8_u (i32.const 1024)))
    ;; the last one
    (call $result (i32.load8_u (i32.const 1040)))
    ;; what capability_version wrote up to the last byte
    (call $result (i32.load8_u (i32.const 65535)))
    (call $print)))
