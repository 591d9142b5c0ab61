(component
  (core module $m
    (func (export "run") (result i32) (i32.const 0))
    (func (export "callback") (param i32 i32 i32) (result i32) (i32.const 0)))
  (core instance $m (instantiate $m))
  (func (export "run") async (canon lift (core func $m "run") async (callback (core func $m "callback")))))
