(component
  (component $inner
    (core module $m
      (memory (export "memory") 1)
      (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024))
      (func (export "run") (param i32 i32) (loop $again (br $again))))
    (core instance $m (instantiate $m))
    (func (export "run") (param "text" string)
      (canon lift (core func $m "run") (memory (core memory $m "memory")) (realloc (core func $m "realloc")))))
  (instance $inner (instantiate $inner))
  (core module $libc (memory (export "memory") 1))
  (core instance $libc (instantiate $libc))
  (core func $run (canon lower (func $inner "run") (memory (core memory $libc "memory"))))
  (core module $m
    (import "inner" "run" (func $run (param i32 i32)))
    (func (export "run") (call $run (i32.const 0) (i32.const 100))))
  (core instance $m (instantiate $m (with "inner" (instance (export "run" (func $run))))))
  (func (export "run") (canon lift (core func $m "run"))))
