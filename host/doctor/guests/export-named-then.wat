(component
  (core module $m
    (func (export "f") (result i32) (i32.const 42)))
  (core instance $m (instantiate $m))
  (func (export "then") (result u32) (canon lift (core func $m "f"))))
