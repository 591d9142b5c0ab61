(module
  (table 1025 funcref)
  (func (export "_start")))
