;; One module and one memory of a page in the file, a hundred of both once it is instantiated.
(component
  (core module $hoard (memory 1))
  ;; repeat 100: (core instance (instantiate $hoard))
  (core module $m
    (func (export "run")))
  (core instance $m (instantiate $m))
  (func (export "run") (canon lift (core func $m "run"))))
