(component
  (core module $m
    (func (export "run") (loop $again (br $again))))
  (core instance $m (instantiate $m))
  (func (export "run") (canon lift (core func $m "run"))))
