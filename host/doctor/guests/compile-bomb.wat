(component
  (core module $m
    (func (export "run")
      ;; repeat 1900: (local i32)
      ;; repeat 80000: (local.set 1899 (i32.add (local.get 0) (local.get 1)))
    ))
  (core instance $m (instantiate $m))
  (func (export "run") (canon lift (core func $m "run"))))
