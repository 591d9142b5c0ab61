(component
  (import "doctor:offers/unkind@1.0.0" (instance $unkind
    (export "late" (func (param "text" string) (result string)))))
  (core module $libc
    (memory (export "memory") 1)
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024)))
  (core instance $libc (instantiate $libc))
  (core func $late (canon lower (func $unkind "late")
    (memory (core memory $libc "memory")) (realloc (core func $libc "realloc"))))
  (core module $m
    (import "host" "late" (func $late (param i32 i32 i32)))
    (func (export "run")
      (call $late (i32.const 0) (i32.const 0) (i32.const 64))))
  (core instance $m (instantiate $m (with "host" (instance (export "late" (func $late))))))
  (func (export "run") (canon lift (core func $m "run"))))
