(module
  (func $start (loop $again (br $again)))
  (start $start)
  (func (export "_start")))
