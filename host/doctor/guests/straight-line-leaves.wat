;; Function n+1 calls function n twice, so function 60 makes 2^60 calls of function 0, and none of them holds a loop.
(component
  (core module $m
    (func $f0 (local i32)
      ;; repeat 25: (local.set 0 (i32.const {i}))
    )
    ;; repeat 60: (func $f{i+1} (call $f{i}) (call $f{i}))
    (export "run" (func $f60)))
  (core instance $m (instantiate $m))
  (func (export "run") (canon lift (core func $m "run"))))
