(component
  (core module $m
    (memory 1)
    ;; repeat 11000: (data (i32.const 0) "one hundred bytes of data that nobody will ever read, over and over, until the file is too large....")
    (func (export "run")))
  (core instance $m (instantiate $m))
  (func (export "run") (canon lift (core func $m "run"))))
