(module
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (func (export "_start")
    try
      (call $proc_exit (i32.const 3))
    catch_all
    end
    (loop $again (br $again))))
