(component
  (import "wasi:cli/exit@0.2.0" (instance $exit
    (export "exit" (func (param "status" (result))))))
  (core func $exit (canon lower (func $exit "exit")))
  (core module $m
    (import "host" "exit" (func $exit (param i32)))
    (func (export "run") (call $exit (i32.const 0))))
  (core instance $m (instantiate $m (with "host" (instance (export "exit" (func $exit))))))
  (func (export "run") (canon lift (core func $m "run"))))
