(module
  (memory (export "memory") 1)
  (func $start (drop (memory.grow (i32.const 128))))
  (start $start)
  (func (export "_start")))
