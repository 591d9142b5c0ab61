(component
  (core module $m
    (table 200000 funcref)
    (func (export "run")))
  (core instance $m (instantiate $m))
  (func (export "run") (canon lift (core func $m "run"))))
