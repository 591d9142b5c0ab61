(component
  ;; repeat 4: (core module $m{i} (memory 1) (func (export "run") (loop $again (br_if $again (i32.ne (memory.grow (i32.const 16)) (i32.const -1))))))
  ;; repeat 4: (core instance $i{i} (instantiate $m{i}))
  (core module $m
    ;; repeat 4: (import "{i}" "run" (func $f{i}))
    (func (export "run")
      ;; repeat 4: (call $f{i})
      unreachable))
  (core instance $m (instantiate $m
    ;; repeat 4: (with "{i}" (instance $i{i}))
  ))
  (func (export "run") (canon lift (core func $m "run"))))
