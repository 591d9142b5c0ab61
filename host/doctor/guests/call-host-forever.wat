(component
  (import "doctor:offers/echo@1.0.0" (instance $echo
    (export "echo" (func (param "text" string) (result string)))
    (export "text" (func (param "length" u32) (result string)))))
  (core module $libc
    (memory (export "memory") 100)
    (data (i32.const 0) "hello")
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024)))
  (core instance $libc (instantiate $libc))
  (core func $echo (canon lower (func $echo "echo")
    (memory (core memory $libc "memory")) (realloc (core func $libc "realloc"))))
  (core func $text (canon lower (func $echo "text")
    (memory (core memory $libc "memory")) (realloc (core func $libc "realloc"))))
  (core module $m
    (import "libc" "memory" (memory 100))
    (import "host" "echo" (func $echo (param i32 i32 i32)))
    (import "host" "text" (func $text (param i32 i32)))
    (func (export "run")
      (loop $again
        (call $echo (i32.const 0) (i32.const 5) (i32.const 64))
        (br $again)))
  )
  (core instance $m (instantiate $m
    (with "libc" (instance $libc))
    (with "host" (instance (export "echo" (func $echo)) (export "text" (func $text))))))
  (func (export "run") (canon lift (core func $m "run"))))
