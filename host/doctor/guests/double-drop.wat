(component
  (import "wasi:io/poll@0.2.0" (instance $poll
    (export "pollable" (type $pollable (sub resource)))))
  (alias export $poll "pollable" (type $pollable))
  (import "wasi:clocks/monotonic-clock@0.2.0" (instance $clock
    (alias outer 1 $pollable (type $pollable'))
    (export "pollable" (type $pollable (eq $pollable')))
    (export "subscribe-duration" (func (param "when" u64) (result (own $pollable))))))
  (core func $subscribe (canon lower (func $clock "subscribe-duration")))
  (core func $drop (canon resource.drop $pollable))
  (core module $m
    (import "host" "subscribe" (func $subscribe (param i64) (result i32)))
    (import "host" "drop" (func $drop (param i32)))
    (func (export "run") (local $handle i32)
      (local.set $handle (call $subscribe (i64.const 1)))
      (call $drop (local.get $handle))
      (call $drop (local.get $handle))))
  (core instance $m (instantiate $m
    (with "host" (instance (export "subscribe" (func $subscribe)) (export "drop" (func $drop))))))
  (func (export "run") (canon lift (core func $m "run"))))
