(component
  (core module $m
    (func (export "run") (result i32) (i32.const 7)))
  (core instance $m (instantiate $m))
  (func (export "run") (result bool) (canon lift (core func $m "run"))))
