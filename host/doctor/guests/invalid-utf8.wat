(component
  (core module $m
    (memory (export "memory") 1)
    (data (i32.const 64) "\ff\fe\fd")
    (func (export "run") (result i32)
      (i32.store (i32.const 16) (i32.const 64))
      (i32.store (i32.const 20) (i32.const 3))
      (i32.const 16)))
  (core instance $m (instantiate $m))
  (func (export "run") (result string)
    (canon lift (core func $m "run") (memory (core memory $m "memory")))))
