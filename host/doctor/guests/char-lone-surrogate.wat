(component
  (core module $m
    (func (export "run") (result i32) (i32.const 0xd800)))
  (core instance $m (instantiate $m))
  (func (export "run") (result char) (canon lift (core func $m "run"))))
