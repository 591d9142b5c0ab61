(component
  (core module $m
    (memory 1)
    (func (export "run") (result i32)
      (loop $again
        (br_if $again (i32.ne (memory.grow (i32.const 16)) (i32.const -1))))
      (memory.size)))
  (core instance $m (instantiate $m))
  (func (export "run") (result u32) (canon lift (core func $m "run"))))
