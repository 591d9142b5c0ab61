(component
  (import "wasi:sockets/instance-network@0.2.0" (instance $network
    (export "network" (type (sub resource)))))
  (core module $m
    (func (export "run")))
  (core instance $m (instantiate $m))
  (func (export "run") (canon lift (core func $m "run"))))
