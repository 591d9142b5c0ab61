(component
  (core module $m
    (func (export "run") (result i32) (i64.const 0)))
  (core instance $m (instantiate $m))
  (func (export "run") (result u32) (canon lift (core func $m "run"))))
