;; A record of sixteen strings, all of them the same megabyte.
(component
  (core module $m
    (memory (export "memory") 20)
    (func (export "run") (result i32) (local $at i32)
      (memory.fill (i32.const 1024) (i32.const 120) (i32.const 1000000))
      (loop $next
        (i32.store (i32.add (i32.const 16) (local.get $at)) (i32.const 1024))
        (i32.store (i32.add (i32.const 20) (local.get $at)) (i32.const 1000000))
        (br_if $next (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 8))) (i32.const 128))))
      (i32.const 16)))
  (core instance $m (instantiate $m))
  (func (export "run")
    (result (tuple
      string string string string string string string string
      string string string string string string string string))
    (canon lift (core func $m "run") (memory (core memory $m "memory")))))
