(component
  (import "airlock:capability/log@1.0.0" (instance $log
    (type $level' (enum "debug" "info" "warn" "error"))
    (export "level" (type $level (eq $level')))
    (export "write" (func (param "level" $level) (param "message" string)))))
  (core module $libc
    (memory (export "memory") 1)
    (data (i32.const 0) "a line"))
  (core instance $libc (instantiate $libc))
  (core func $write (canon lower (func $log "write") (memory (core memory $libc "memory"))))
  (core module $m
    (import "libc" "memory" (memory 1))
    (import "host" "write" (func $write (param i32 i32 i32)))
    (func $again (export "run")
      (call $write (i32.const 0) (i32.const 0) (i32.const 0))
      (call $again))
  )
  (core instance $m (instantiate $m
    (with "libc" (instance $libc))
    (with "host" (instance (export "write" (func $write))))))
  (func (export "run") (canon lift (core func $m "run"))))
