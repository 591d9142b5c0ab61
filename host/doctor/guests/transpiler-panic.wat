(component
  (import "wasi:io/poll@0.2.0" (instance $poll
    (export "pollable" (type $pollable (sub resource)))))
  (alias export $poll "pollable" (type $pollable))
  (import "wasi:clocks/monotonic-clock@0.2.0" (instance $clock
    (alias outer 1 $pollable (type $pollable'))
    (export "pollable" (type $pollable (eq $pollable')))
    (export "subscribe-duration" (func (param "when" u64) (result (own $pollable))))))
  (core func (canon lower (func $clock "subscribe-duration")))
  (core module $m
    (memory (export "memory") 1)
    (data (i32.const 16) "\20\00\00\00\02\00\00\00")
    (data (i32.const 32) "h\00\00\d8")
    (func (export "run") (result i32) (i32.const 16)))
  (core instance $m (instantiate $m))
  (func (export "run") (result string)
    (canon lift (core func $m "run") (memory (core memory $m "memory")) string-encoding=latin1+utf16)))
