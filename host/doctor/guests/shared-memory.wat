(component
  (core module $m
    (memory 1 1 shared)
    (func (export "run")))
  (core instance $m (instantiate $m))
  (func (export "run") (canon lift (core func $m "run"))))
