(component
  (core module $m
    (memory (export "memory") 100)
    (func (export "run") (result i32)
      (memory.fill (i32.const 1024) (i32.const 120) (i32.const 5000000))
      (i32.store (i32.const 16) (i32.const 1024))
      (i32.store (i32.const 20) (i32.const 5000000))
      (i32.const 16)))
  (core instance $m (instantiate $m))
  (func (export "run") (result string)
    (canon lift (core func $m "run") (memory (core memory $m "memory")))))
