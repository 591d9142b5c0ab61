(component
  (core module $m
    (func $start (loop $again (br $again)))
    (start $start)
    (func (export "run")))
  (core instance $m (instantiate $m))
  (func (export "run") (canon lift (core func $m "run"))))
