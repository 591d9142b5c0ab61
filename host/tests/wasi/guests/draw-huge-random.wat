;; Asks for 2^64 - 1 random bytes. The run ends over-budget (randomBytes), and nothing is allocated.
(component
  (import "airlock:capability/types@1.0.0" (instance $types
    (type $record (record (field "code" string) (field "message" string) (field "retryable" bool) (field "detail" (option string))))
    (export "failure" (type (eq $record)))))
  (alias export $types "failure" (type $failure))
  (import "wasi:random/random@0.2.3" (instance $random (export "get-random-bytes" (func (param "len" u64) (result (list u8))))))
  (core module $libc
    (memory (export "memory") 64)
    ;; Bump allocator over [65536, 1 MiB); `reset` empties it.
    (global $next (mut i32) (i32.const 65536))
    (func (export "reset") (global.set $next (i32.const 65536)))
    (func (export "realloc") (param i32 i32) (param $align i32) (param $size i32) (result i32) (local $at i32)
      (local.set $at (i32.and (i32.add (global.get $next) (i32.sub (local.get $align) (i32.const 1))) (i32.sub (i32.const 0) (local.get $align))))
      (global.set $next (i32.add (local.get $at) (local.get $size)))
      (if (i32.gt_u (global.get $next) (i32.const 1048576)) (then unreachable))
      (local.get $at)))
  (core instance $libc (instantiate $libc))
  (alias core export $libc "memory" (core memory $memory))
  (alias core export $libc "realloc" (core func $realloc))
  (core func $get-random-bytes (canon lower (func $random "get-random-bytes") (memory $memory) (realloc $realloc)))
  (core module $main
    (import "libc" "memory" (memory 1))
    (import "libc" "reset" (func $reset))
    (import "libc" "realloc" (func $realloc (param i32 i32 i32 i32) (result i32)))
    (import "wasi" "get-random-bytes" (func $get-random-bytes (param i64 i32)))
    (func (export "handle") (param i32 i32) (result i32) (call $get-random-bytes (i64.const -1) (i32.const 64)) unreachable))
  (core instance $main (instantiate $main (with "libc" (instance $libc)) (with "wasi" (instance
    (export "get-random-bytes" (func $get-random-bytes))))))
  (func $handle (param "input" string) (result (result string (error $failure)))
    (canon lift (core func $main "handle") (memory $memory) (realloc $realloc)))
  (instance $handler (export "handle" (func $handle)))
  (export "airlock:capability/handler@1.0.0" (instance $handler)))
