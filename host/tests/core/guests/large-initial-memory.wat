(module
  (memory (export "memory") 129)
  (func (export "_start")))
