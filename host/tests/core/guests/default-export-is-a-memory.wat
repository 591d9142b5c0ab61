(module
  (memory (export "") 1)
  (func (export "_start") unreachable))
