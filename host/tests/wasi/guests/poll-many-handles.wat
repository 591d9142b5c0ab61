;; Polls a list of a million handles that nobody gave it. The run ends as a trap or out of fuel.
(component
  (import "airlock:capability/types@1.0.0" (instance $types
    (type $record (record (field "code" string) (field "message" string) (field "retryable" bool) (field "detail" (option string))))
    (export "failure" (type (eq $record)))))
  (alias export $types "failure" (type $failure))
  (import "wasi:io/poll@0.2.3" (instance $poll
    (export "pollable" (type $pollable (sub resource)))
    (export "[method]pollable.block" (func (param "self" (borrow $pollable))))
    (export "poll" (func (param "in" (list (borrow $pollable))) (result (list u32))))))
  (alias export $poll "pollable" (type $pollable))
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
  (core func $poll (canon lower (func $poll "poll") (memory $memory) (realloc $realloc)))
  (core module $main
    (import "libc" "memory" (memory 1))
    (import "libc" "reset" (func $reset))
    (import "libc" "realloc" (func $realloc (param i32 i32 i32 i32) (result i32)))
    (import "wasi" "poll" (func $poll (param i32 i32 i32)))
    (func (export "handle") (param i32 i32) (result i32) (call $poll (i32.const 0) (i32.const 1000000) (i32.const 64)) unreachable))
  (core instance $main (instantiate $main (with "libc" (instance $libc)) (with "wasi" (instance
    (export "poll" (func $poll))))))
  (func $handle (param "input" string) (result (result string (error $failure)))
    (canon lift (core func $main "handle") (memory $memory) (realloc $realloc)))
  (instance $handler (export "handle" (func $handle)))
  (export "airlock:capability/handler@1.0.0" (instance $handler)))
