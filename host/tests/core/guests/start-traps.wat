(module
  (func $start unreachable)
  (start $start)
  (func (export "_start")))
