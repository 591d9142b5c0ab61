(component
  (import "wasi:io/poll@0.2.0" (instance $poll
    (export "pollable" (type $pollable (sub resource)))
    (export "[method]pollable.block" (func (param "self" (borrow $pollable))))))
  (alias export $poll "pollable" (type $pollable))
  (import "wasi:clocks/monotonic-clock@0.2.0" (instance $clock
    (alias outer 1 $pollable (type $pollable'))
    (export "pollable" (type $pollable (eq $pollable')))
    (export "subscribe-duration" (func (param "when" u64) (result (own $pollable))))))
  (core func $subscribe (canon lower (func $clock "subscribe-duration")))
  (core func $block (canon lower (func $poll "[method]pollable.block")))
  (core module $m
    (import "host" "subscribe" (func $subscribe (param i64) (result i32)))
    (import "host" "block" (func $block (param i32)))
    (func (export "run")
      (call $block (i32.const 12345))))
  (core instance $m (instantiate $m
    (with "host" (instance (export "subscribe" (func $subscribe)) (export "block" (func $block))))))
  (func (export "run") (canon lift (core func $m "run"))))
