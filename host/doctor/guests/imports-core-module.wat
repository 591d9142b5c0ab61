(component
  (import "code" (core module $m (export "run" (func))))
  (core instance $m (instantiate $m))
  (func (export "run") (canon lift (core func $m "run"))))
