;; Zeroes pages of 4 KiB again, from $at up to $end, but only those that are not zero.
(module
  (import "of" "memory" (memory 0))
  (func (export "clear") (param $at i32) (param $end i32)
    (local $pageEnd i32) (local $bits v128)
    (loop $pages
      (local.set $pageEnd (i32.add (local.get $at) (i32.const 4096)))
      (local.set $bits (v128.const i64x2 0 0))
      (loop $bytes
        (local.set $bits (v128.or (local.get $bits)
          (v128.or
            (v128.or
              (v128.or (v128.load (local.get $at)) (v128.load offset=16 (local.get $at)))
              (v128.or (v128.load offset=32 (local.get $at)) (v128.load offset=48 (local.get $at))))
            (v128.or
              (v128.or (v128.load offset=64 (local.get $at)) (v128.load offset=80 (local.get $at)))
              (v128.or (v128.load offset=96 (local.get $at)) (v128.load offset=112 (local.get $at)))))))
        (local.set $at (i32.add (local.get $at) (i32.const 128)))
        (br_if $bytes (i32.lt_u (local.get $at) (local.get $pageEnd))))
      (if (v128.any_true (local.get $bits))
        (then (memory.fill (i32.sub (local.get $at) (i32.const 4096)) (i32.const 0) (i32.const 4096))))
      (br_if $pages (i32.lt_u (local.get $at) (local.get $end))))))
