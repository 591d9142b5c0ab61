(component
  (core module $m
    (memory 1)
    (memory 1)
    (func (export "run")))
  (core instance $m (instantiate $m))
  (func (export "run") (canon lift (core func $m "run"))))
