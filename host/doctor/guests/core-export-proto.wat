(component
  (core module $m
    (func (export "__proto__")))
  (core instance $m (instantiate $m))
  (func (export "run") (canon lift (core func $m "__proto__"))))
