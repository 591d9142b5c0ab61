(module
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "traverse_host" "connector_invoke" (func $connector_invoke (param i32 i32 i32 i32) (result i32)))
  ;; results
  (data (i32.const 1024) "{\"abi_version\":\"1.0.0\",\"connector_id\":\"acme.store\",\"operation\":\"get\",\"payload\":{}}")
  (func (export "_start")
    ;; the request with spaces behind it, in a memory that has place for more
    (drop (memory.grow (i32.const 3)))
    (memory.fill (i32.const 65536) (i32.const 32) (i32.const 65537))
    (memory.copy (i32.const 65536) (i32.const 1024) (i32.const 82))
    ;; a byte too long
    (call $result (call $connector_invoke (i32.const 65536) (i32.const 65537) (i32.const 0) (i32.const 64)))
    ;; as long as it may be, and a place for the response that is a byte too long
    (call $result (call $connector_invoke (i32.const 65536) (i32.const 65536) (i32.const 131073) (i32.const 65537)))
    ;; both as long as they may be: now it is looked for in the manifest
    (call $result (call $connector_invoke (i32.const 65536) (i32.const 65536) (i32.const 131073) (i32.const 65536)))
    (call $print)))
