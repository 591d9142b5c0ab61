(module
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "traverse_host" "connector_invoke" (func $connector_invoke (param i32 i32 i32 i32) (result i32)))
  ;; results
  (data (i32.const 1024) "{\"abi_version\":")
  (data (i32.const 1043) "[]")
  (data (i32.const 1049) "{\"abi_version\":\"1.0.1\",\"connector_id\":\"acme.store\",\"operation\":\"get\",\"payload\":{}}")
  (data (i32.const 1135) "{\"abi_version\":1,\"connector_id\":\"acme.store\",\"operation\":\"get\",\"payload\":{}}")
  (data (i32.const 1215) "{\"abi_version\":\"1.0.0\",\"connector_id\":1,\"operation\":\"get\",\"payload\":{}}")
  (data (i32.const 1290) "{\"abi_version\":\"1.0.0\",\"connector_id\":\"\",\"operation\":\"get\",\"payload\":{}}")
  (data (i32.const 1366) "{\"abi_version\":\"1.0.0\",\"connector_id\":\"acme.store\",\"operation\":null,\"payload\":{}}")
  (data (i32.const 1451) "{\"abi_version\":\"1.0.0\",\"connector_id\":\"acme.store\",\"operation\":\"\",\"payload\":{}}")
  (data (i32.const 1534) "{\"connector_id\":\"acme.store\",\"operation\":\"get\",\"payload\":{}}")
  (data (i32.const 1598) "{\"abi_version\":\"1.0.0\",\"operation\":\"get\",\"payload\":{}}")
  (data (i32.const 1656) "{\"abi_version\":\"1.0.0\",\"connector_id\":\"acme.store\",\"payload\":{}}")
  (data (i32.const 1724) "{\"abi_version\":\"1.0.0\",\"connector_id\":\"acme.store\",\"operation\":\"get\"}")
  (func (export "_start")
    ;; a negative request
    (call $result (call $connector_invoke (i32.const -1) (i32.const 0) (i32.const 0) (i32.const 0)))
    ;; a negative length
    (call $result (call $connector_invoke (i32.const 0) (i32.const -1) (i32.const 0) (i32.const 0)))
    ;; a negative response
    (call $result (call $connector_invoke (i32.const 0) (i32.const 0) (i32.const -1) (i32.const 0)))
    ;; a negative capacity
    (call $result (call $connector_invoke (i32.const 0) (i32.const 0) (i32.const 0) (i32.const -1)))
    ;; negative before too large
    (call $result (call $connector_invoke (i32.const 0) (i32.const 65537) (i32.const -1) (i32.const 0)))
    (call $result (call $connector_invoke (i32.const 0) (i32.const 65537) (i32.const 0) (i32.const -1)))
    ;; a request that is too large
    (call $result (call $connector_invoke (i32.const 0) (i32.const 65537) (i32.const 0) (i32.const 0)))
    ;; too large before out of bounds, and before the capacity
    (call $result (call $connector_invoke (i32.const 65536) (i32.const 2147483647) (i32.const 0) (i32.const 65537)))
    ;; a capacity that is too large
    (call $result (call $connector_invoke (i32.const 0) (i32.const 65536) (i32.const 0) (i32.const 65537)))
    ;; past the end
    (call $result (call $connector_invoke (i32.const 65536) (i32.const 1) (i32.const 0) (i32.const 0)))
    ;; across the end
    (call $result (call $connector_invoke (i32.const 65535) (i32.const 2) (i32.const 0) (i32.const 0)))
    ;; nothing
    (call $result (call $connector_invoke (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)))
    ;; not JSON
    (call $result (call $connector_invoke (i32.const 1024) (i32.const 15) (i32.const 2048) (i32.const 64)))
    ;; no object
    (call $result (call $connector_invoke (i32.const 1043) (i32.const 2) (i32.const 2048) (i32.const 64)))
    ;; another version
    (call $result (call $connector_invoke (i32.const 1049) (i32.const 82) (i32.const 2048) (i32.const 64)))
    ;; a version that is no string
    (call $result (call $connector_invoke (i32.const 1135) (i32.const 76) (i32.const 2048) (i32.const 64)))
    ;; a connector that is no string
    (call $result (call $connector_invoke (i32.const 1215) (i32.const 71) (i32.const 2048) (i32.const 64)))
    ;; an empty connector
    (call $result (call $connector_invoke (i32.const 1290) (i32.const 72) (i32.const 2048) (i32.const 64)))
    ;; an operation that is no string
    (call $result (call $connector_invoke (i32.const 1366) (i32.const 81) (i32.const 2048) (i32.const 64)))
    ;; an empty operation
    (call $result (call $connector_invoke (i32.const 1451) (i32.const 79) (i32.const 2048) (i32.const 64)))
    ;; without abi_version
    (call $result (call $connector_invoke (i32.const 1534) (i32.const 60) (i32.const 2048) (i32.const 64)))
    ;; without connector_id
    (call $result (call $connector_invoke (i32.const 1598) (i32.const 54) (i32.const 2048) (i32.const 64)))
    ;; without operation
    (call $result (call $connector_invoke (i32.const 1656) (i32.const 64) (i32.const 2048) (i32.const 64)))
    ;; without payload
    (call $result (call $connector_invoke (i32.const 1724) (i32.const 69) (i32.const 2048) (i32.const 64)))
    (call $print)))
