(component
  (core module $m
    (func $again (export "run")
      try
        (loop $forever (br $forever))
      catch_all
        (call $again)
      end))
  (core instance $m (instantiate $m))
  (func (export "run") (canon lift (core func $m "run"))))
