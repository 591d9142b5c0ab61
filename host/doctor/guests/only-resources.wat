(component
  (type $blob (resource (rep i32)))
  (core func $new (canon resource.new $blob))
  (core module $m
    (import "host" "new" (func $new (param i32) (result i32)))
    (func (export "make") (result i32) (call $new (i32.const 1))))
  (core instance $m (instantiate $m (with "host" (instance (export "new" (func $new))))))
  (func $make (result (own $blob)) (canon lift (core func $m "make")))
  (component $shim
    (import "blob" (type $blob (sub resource)))
    (import "make" (func $make (result (own $blob))))
    (export $out "blob" (type $blob))
    (export "[constructor]blob" (func $make) (func (result (own $out)))))
  (instance $blobs (instantiate $shim (with "blob" (type $blob)) (with "make" (func $make))))
  (export "doctor:guest/blobs" (instance $blobs)))
