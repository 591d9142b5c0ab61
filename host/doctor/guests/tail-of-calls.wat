(component
  (core module $m
    (func $again (export "run") (return_call $again)))
  (core instance $m (instantiate $m))
  (func (export "run") (canon lift (core func $m "run"))))
