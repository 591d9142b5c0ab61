(component
  ;; repeat 5: (core module $m{i} (memory 1))
  ;; repeat 5: (core instance (instantiate $m{i}))
  (core module $m
    (func (export "run")))
  (core instance $m (instantiate $m))
  (func (export "run") (canon lift (core func $m "run"))))
