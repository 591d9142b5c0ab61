(component
  (core module $m
    (func (export "f") (result i32) (i32.const 42)))
  (core instance $m (instantiate $m))
  (func $f (result u32) (canon lift (core func $m "f")))
  (export "constructor" (func $f))
  (export "to-string" (func $f))
  (export "value-of" (func $f))
  (export "has-own-property" (func $f)))
