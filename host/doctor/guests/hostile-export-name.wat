(component
  (core module $m
    (func (export "r'];globalThis.pwned=1;//")))
  (core instance $m (instantiate $m))
  (func (export "run") (canon lift (core func $m "r'];globalThis.pwned=1;//"))))
