(component
  (type $thing (resource (rep i32)))
  (core func (canon resource.drop $thing))
  (core module $m
    (memory (export "memory") 1)
    (data (i32.const 16) "\20\00\00\00\02\00\00\00")
    (data (i32.const 32) "h\00\00\d8")
    (func (export "run") (result i32) (i32.const 16)))
  (core instance $m (instantiate $m))
  (func (export "run") (result string)
    (canon lift (core func $m "run") (memory (core memory $m "memory")) string-encoding=latin1+utf16)))
