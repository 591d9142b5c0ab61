;; Asks for its standard output forever and drops nothing. The run ends over-budget (handles).
(component
  (import "airlock:capability/types@1.0.0" (instance $types
    (type $record (record (field "code" string) (field "message" string) (field "retryable" bool) (field "detail" (option string))))
    (export "failure" (type (eq $record)))))
  (alias export $types "failure" (type $failure))
  (import "wasi:io/error@0.2.3" (instance $io-error (export "error" (type (sub resource)))))
  (alias export $io-error "error" (type $error))
  (import "wasi:io/streams@0.2.3" (instance $streams
    (alias outer 1 $error (type $outer-error))
    (export "error" (type $error (eq $outer-error)))
    (type $variant (variant (case "last-operation-failed" (own $error)) (case "closed")))
    (export "stream-error" (type $stream-error (eq $variant)))
    (export "input-stream" (type $input-stream (sub resource)))
    (export "output-stream" (type $output-stream (sub resource)))
    ))
  (alias export $streams "input-stream" (type $input-stream))
  (alias export $streams "output-stream" (type $output-stream))
  (import "wasi:cli/stdout@0.2.3" (instance $stdout
    (alias outer 1 $output-stream (type $outer-output-stream))
    (export "output-stream" (type $output-stream (eq $outer-output-stream)))
    (export "get-stdout" (func (result (own $output-stream))))))
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
  (core func $get-stdout (canon lower (func $stdout "get-stdout") (memory $memory) (realloc $realloc)))
  (core module $main
    (import "libc" "memory" (memory 1))
    (import "libc" "reset" (func $reset))
    (import "libc" "realloc" (func $realloc (param i32 i32 i32 i32) (result i32)))
    (import "wasi" "get-stdout" (func $get-stdout (result i32)))
    (func (export "handle") (param i32 i32) (result i32) (loop $more (drop (call $get-stdout)) (br $more)) unreachable))
  (core instance $main (instantiate $main (with "libc" (instance $libc)) (with "wasi" (instance
    (export "get-stdout" (func $get-stdout))))))
  (func $handle (param "input" string) (result (result string (error $failure)))
    (canon lift (core func $main "handle") (memory $memory) (realloc $realloc)))
  (instance $handler (export "handle" (func $handle)))
  (export "airlock:capability/handler@1.0.0" (instance $handler)))
