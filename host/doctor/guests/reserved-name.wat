(component
  (core module $counters
    (global (export "fuel") (mut i64) (i64.const 0x7fffffffffffffff)))
  (core instance $counters (instantiate $counters))
  (core module $m
    (import "$airlock" "fuel" (global (mut i64)))
    (func (export "run") (loop $again (br $again))))
  (core instance $m (instantiate $m (with "$airlock" (instance $counters))))
  (func (export "run") (canon lift (core func $m "run"))))
