(component
  (type $thing (resource (rep i32)))
  (core func (canon resource.drop $thing))
  (core module $m
    (memory (export "memory") 200)
    (data (i32.const 16) "\20\00\00\00\80\96\98\00")
    (func (export "run") (result i32) (i32.const 16)))
  (core instance $m (instantiate $m))
  (func (export "run") (result (list bool))
    (canon lift (core func $m "run") (memory (core memory $m "memory")))))
