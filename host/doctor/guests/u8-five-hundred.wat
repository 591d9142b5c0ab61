(component
  (core module $m
    (func (export "run") (result i32) (i32.const 511)))
  (core instance $m (instantiate $m))
  (func (export "run") (result u8) (canon lift (core func $m "run"))))
