(component
  (core module $m
    (table 1 funcref)
    (func (export "run")
      (loop $again
        (br_if $again (i32.ne (table.grow (ref.null func) (i32.const 1000)) (i32.const -1))))
      unreachable))
  (core instance $m (instantiate $m))
  (func (export "run") (canon lift (core func $m "run"))))
