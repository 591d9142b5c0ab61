(component
  (core module $m
    (memory (export "memory") 1)
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (loop $again (br $again)) unreachable)
    (func (export "run") (param i32 i32)))
  (core instance $m (instantiate $m))
  (func (export "run") (param "input" string)
    (canon lift (core func $m "run") (memory (core memory $m "memory")) (realloc (core func $m "realloc")))))
