(module
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
  ;; results
  (data (i32.const 2000) "abc")
  (func $vector (param $at i32) (param $from i32) (param $length i32)
    (i32.store (local.get $at) (local.get $from)) (i32.store offset=4 (local.get $at) (local.get $length)))
  (func (export "_start")
    ;; fd 0 is no output, before pointers are looked at
    (call $result (call $fd_write (i32.const 0) (i32.const -1) (i32.const -1) (i32.const -1)))
    ;; there is no fd 3
    (call $result (call $fd_write (i32.const 3) (i32.const 1024) (i32.const 1) (i32.const 1100)))
    (call $result (call $fd_write (i32.const -1) (i32.const 1024) (i32.const 1) (i32.const 1100)))
    ;; fd 1 is no input
    (call $result (call $fd_read (i32.const 1) (i32.const -1) (i32.const -1) (i32.const -1)))
    (call $result (call $fd_read (i32.const 2) (i32.const 1024) (i32.const 1) (i32.const 1100)))
    (call $vector (i32.const 1024) (i32.const 2000) (i32.const 3))
    ;; vectors past the end
    (call $result (call $fd_write (i32.const 2) (i32.const 65536) (i32.const 1) (i32.const 1100)))
    ;; vectors across the end
    (call $result (call $fd_write (i32.const 2) (i32.const 65529) (i32.const 1) (i32.const 1100)))
    ;; vectors far away, unsigned
    (call $result (call $fd_write (i32.const 2) (i32.const -8) (i32.const 1) (i32.const 1100)))
    ;; more vectors than there is memory
    (call $result (call $fd_write (i32.const 2) (i32.const 1024) (i32.const -1) (i32.const 1100)))
    ;; as many as wrap to nothing
    (call $result (call $fd_write (i32.const 2) (i32.const 1024) (i32.const 536870912) (i32.const 1100)))
    ;; the result past the end
    (call $result (call $fd_write (i32.const 2) (i32.const 1024) (i32.const 1) (i32.const 65536)))
    ;; the result across the end
    (call $result (call $fd_write (i32.const 2) (i32.const 1024) (i32.const 1) (i32.const 65533)))
    ;; the result far away
    (call $result (call $fd_write (i32.const 2) (i32.const 1024) (i32.const 1) (i32.const -4)))
    ;; the same of fd_read
    (call $result (call $fd_read (i32.const 0) (i32.const 65529) (i32.const 1) (i32.const 1100)))
    (call $result (call $fd_read (i32.const 0) (i32.const 1024) (i32.const -1) (i32.const 1100)))
    (call $result (call $fd_read (i32.const 0) (i32.const 1024) (i32.const 1) (i32.const 65533)))
    (call $vector (i32.const 1024) (i32.const 2000) (i32.const -1))
    ;; a length that leaves the memory
    (call $result (call $fd_write (i32.const 2) (i32.const 1024) (i32.const 1) (i32.const 1100)))
    (call $result (call $fd_read (i32.const 0) (i32.const 1024) (i32.const 1) (i32.const 1100)))
    (call $vector (i32.const 1024) (i32.const -1) (i32.const 1))
    ;; a pointer that does
    (call $result (call $fd_write (i32.const 2) (i32.const 1024) (i32.const 1) (i32.const 1100)))
    (call $result (call $fd_read (i32.const 0) (i32.const 1024) (i32.const 1) (i32.const 1100)))
    (call $vector (i32.const 1024) (i32.const 65536) (i32.const 0))
    ;; nothing, at the end
    (call $result (call $fd_write (i32.const 2) (i32.const 1024) (i32.const 1) (i32.const 1100)))
    (call $result (i32.load (i32.const 1100)))
    (call $vector (i32.const 1024) (i32.const 65536) (i32.const 1))
    ;; something, past the end
    (call $result (call $fd_write (i32.const 2) (i32.const 1024) (i32.const 1) (i32.const 1100)))
    (call $vector (i32.const 1024) (i32.const 2000) (i32.const 1))
    (call $vector (i32.const 1032) (i32.const 65535) (i32.const 2))
    ;; the first vector is right, the second is not: nothing is written
    (i32.store (i32.const 1100) (i32.const 77))
    (call $result (call $fd_read (i32.const 0) (i32.const 1024) (i32.const 2) (i32.const 1100)))
    (call $result (i32.load8_u (i32.const 2000)))
    (call $result (i32.load (i32.const 1100)))
    ;; nothing is read where the result has no place
    (call $result (call $fd_read (i32.const 0) (i32.const 1024) (i32.const 1) (i32.const 65533)))
    (call $result (i32.load8_u (i32.const 2000)))
    (call $vector (i32.const 1024) (i32.const 2100) (i32.const 2))
    (call $vector (i32.const 1032) (i32.const 2110) (i32.const 0))
    (call $vector (i32.const 1040) (i32.const 2120) (i32.const 1))
    ;; over several vectors
    (call $result (call $fd_read (i32.const 0) (i32.const 1024) (i32.const 3) (i32.const 1100)))
    (call $result (i32.load (i32.const 1100)))
    (call $result (i32.load8_u (i32.const 2100)))
    (call $result (i32.load8_u (i32.const 2101)))
    (call $result (i32.load8_u (i32.const 2120)))
    (call $vector (i32.const 1024) (i32.const 2200) (i32.const 100))
    ;; the rest
    (call $result (call $fd_read (i32.const 0) (i32.const 1024) (i32.const 1) (i32.const 1100)))
    (call $result (i32.load (i32.const 1100)))
    ;; and nothing at the end
    (call $result (call $fd_read (i32.const 0) (i32.const 1024) (i32.const 1) (i32.const 1100)))
    (call $result (i32.load (i32.const 1100)))
    ;; into no vector
    (call $result (call $fd_read (i32.const 0) (i32.const 1024) (i32.const 0) (i32.const 1100)))
    ;; out of no vector
    (call $result (call $fd_write (i32.const 1) (i32.const 1024) (i32.const 0) (i32.const 1100)))
    (call $result (i32.load (i32.const 1100)))
    (call $print)))
