(component
  (core module $m
    (memory 1)
    (func (export "run")
      (loop $again
        (br_if $again (i32.ne (memory.grow (i32.const 16)) (i32.const -1))))
      unreachable))
  (core instance $m (instantiate $m))
  (func (export "run") (canon lift (core func $m "run"))))
