;; A core module on the Traverse Host ABI 1.0.0: reads its input from fd 0 and answers how long it is. Assembled with
;;   wasm-tools parse module.wat -o module.wasm
(module
  (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  ;; At 0 the vector that is read into, 4,096 bytes from 1,024 on; at 16 the answer, up to its digits.
  (data (i32.const 0) "\00\04\00\00\00\10\00\00")
  (data (i32.const 16) "{\"bytes\":")
  (global $end (mut i32) (i32.const 25))
  (func $digits (param $value i32)
    (if (i32.ge_u (local.get $value) (i32.const 10))
      (then (call $digits (i32.div_u (local.get $value) (i32.const 10)))))
    (i32.store8 (global.get $end) (i32.add (i32.rem_u (local.get $value) (i32.const 10)) (i32.const 48)))
    (global.set $end (i32.add (global.get $end) (i32.const 1))))
  (func (export "_start") (local $bytes i32)
    (loop $more
      (if (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)) (then unreachable))
      (local.set $bytes (i32.add (local.get $bytes) (i32.load (i32.const 8))))
      (br_if $more (i32.load (i32.const 8))))
    (call $digits (local.get $bytes))
    (i32.store8 (global.get $end) (i32.const 0x7d))
    ;; The same vector, now from 16 to behind the brace.
    (i32.store (i32.const 0) (i32.const 16))
    (i32.store (i32.const 4) (i32.sub (global.get $end) (i32.const 15)))
    (if (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)) (then unreachable))))
