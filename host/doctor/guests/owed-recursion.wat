;; A meter that pays for straight-line code only when a function ends would see none of it before the stack is full.
(component
  (core module $m
    (func $again (export "run") (local i32)
      ;; repeat 1000: (local.set 0 (i32.add (local.get 0) (i32.const {i})))
      (call $again)))
  (core instance $m (instantiate $m))
  (func (export "run") (canon lift (core func $m "run"))))
