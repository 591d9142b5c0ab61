(component
  (import "doctor:offers/unkind@1.0.0" (instance $unkind
    (export "wrong-type" (func (result u32)))))
  (core func $f (canon lower (func $unkind "wrong-type")))
  (core module $m
    (import "host" "f" (func $f (result i32)))
    (func (export "run") (result i32) (call $f)))
  (core instance $m (instantiate $m (with "host" (instance (export "f" (func $f))))))
  (func (export "run") (result u32) (canon lift (core func $m "run"))))
