(component
  (core module $m
    (func (export "run") (result f64) (f64.div (f64.const 0) (f64.const 0))))
  (core instance $m (instantiate $m))
  (func (export "run") (result f64) (canon lift (core func $m "run"))))
