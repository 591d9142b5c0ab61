(component
  (core module $m
    (type $a (array (mut i8)))
    (func (export "run")
      (loop $again
        (drop (array.new_default $a (i32.const 0x100000)))
        (br $again))))
  (core instance $m (instantiate $m))
  (func (export "run") (canon lift (core func $m "run"))))
