(component
  (import "airlock:capability/events@1.0.0" (instance $events
    (type $error' (variant
      (case "invalid-payload" string)
      (case "undeclared-event") (case "not-subscribable") (case "too-large") (case "budget-exhausted")))
    (export "event-error" (type $error (eq $error')))
    (export "emit-event" (func
      (param "event-type" string) (param "version" string) (param "payload" string)
      (result (result (error $error)))))))
  (core module $libc
    (memory (export "memory") 8)
    (data (i32.const 0) "beat1.0.0{}")
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024)))
  (core instance $libc (instantiate $libc))
  (core func $emit (canon lower (func $events "emit-event")
    (memory (core memory $libc "memory")) (realloc (core func $libc "realloc"))))
  (core module $m
    (import "libc" "memory" (memory 8))
    (import "host" "emit" (func $emit (param i32 i32 i32 i32 i32 i32 i32)))
    (func (export "run") (result i32)
      (call $emit (i32.const 0) (i32.const 4) (i32.const 4) (i32.const 5) (i32.const 9) (i32.const 2) (i32.const 64))
      ;; 1 is undeclared-event.
      (i32.load8_u (i32.const 68)))
  )
  (core instance $m (instantiate $m
    (with "libc" (instance $libc))
    (with "host" (instance (export "emit" (func $emit))))))
  (func (export "run") (result u32) (canon lift (core func $m "run"))))
