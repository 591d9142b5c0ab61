(component
  (core module $m
    (memory 16)
    (func (export "run")
      (loop $again
        (memory.fill (i32.const 0) (i32.const 7) (i32.const 0x100000))
        (br $again))))
  (core instance $m (instantiate $m))
  (func (export "run") (canon lift (core func $m "run"))))
