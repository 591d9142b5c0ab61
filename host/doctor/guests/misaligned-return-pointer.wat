(component
  (core module $m
    (memory (export "memory") 1)
    (data (i32.const 64) "ok")
    (func (export "run") (result i32)
      (i32.store (i32.const 17) (i32.const 64))
      (i32.store (i32.const 21) (i32.const 2))
      (i32.const 17)))
  (core instance $m (instantiate $m))
  (func (export "run") (result string)
    (canon lift (core func $m "run") (memory (core memory $m "memory")))))
