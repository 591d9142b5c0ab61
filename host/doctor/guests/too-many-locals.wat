(component
  (core module $m
    (func (export "run")
      ;; repeat 2001: (local i32)
    ))
  (core instance $m (instantiate $m))
  (func (export "run") (canon lift (core func $m "run"))))
