;; The body names a local and a global that do not exist, but would once the counters of the meter are added.
(component
  (core module $m
    (func (export "run")
      (global.set 0 (i64.const 0x7fffffffffffffff))
      (loop $again (br $again))))
  (core instance $m (instantiate $m))
  (func (export "run") (canon lift (core func $m "run"))))
