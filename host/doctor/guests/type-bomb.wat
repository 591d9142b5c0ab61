(component
  (type $t0 (tuple u8 u8))
  ;; repeat 12: (type $t{i+1} (tuple $t{i} $t{i}))
  (core module $m
    (memory (export "memory") 1)
    (func (export "run") (result i32) (i32.const 0)))
  (core instance $m (instantiate $m))
  (func (export "run") (result $t12)
    (canon lift (core func $m "run") (memory (core memory $m "memory")))))
