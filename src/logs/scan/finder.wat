;; Looks at 16 places of the memory at a time for three bytes that a needle may have there. What a byte may be is told by its two
;; halves: each table has, for each value of a half, a bit for every group of needles. Tables are at 0, two of 16 bytes for each of
;; the three bytes; what is found goes to 256 and on: the place times 256, and the groups.
(module
  (import "scan" "memory" (memory 1))
  (global $reached (export "reached") (mut i32) (i32.const 0))

  ;; Notes places in [$at, $to), and may be some behind, until less than 16 notes are left of $room; the number of notes. From
  ;; $reached on is to be looked again.
  (func (export "find") (param $at i32) (param $to i32) (param $room i32) (result i32)
    (local $count i32) (local $mask i32) (local $place i32)
    (local $low v128) (local $high v128) (local $half v128) (local $found v128)
    (local $first v128) (local $second v128) (local $before0 v128) (local $before1 v128)
    (local $low0 v128) (local $high0 v128) (local $low1 v128) (local $high1 v128) (local $low2 v128) (local $high2 v128)
    (local.set $half (i8x16.splat (i32.const 15)))
    (local.set $low0 (v128.load (i32.const 0)))
    (local.set $high0 (v128.load (i32.const 16)))
    (local.set $low1 (v128.load (i32.const 32)))
    (local.set $high1 (v128.load (i32.const 48)))
    (local.set $low2 (v128.load (i32.const 64)))
    (local.set $high2 (v128.load (i32.const 80)))
    (local.set $to (i32.add (local.get $to) (i32.const 2)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_s (local.get $at) (local.get $to)))
        (local.set $low (v128.and (v128.load (local.get $at)) (local.get $half)))
        ;; a shift of whole words, since processors have none of bytes
        (local.set $high (v128.and (i16x8.shr_u (v128.load (local.get $at)) (i32.const 4)) (local.get $half)))
        (local.set $first
          (v128.and (i8x16.swizzle (local.get $low0) (local.get $low)) (i8x16.swizzle (local.get $high0) (local.get $high))))
        (local.set $second
          (v128.and (i8x16.swizzle (local.get $low1) (local.get $low)) (i8x16.swizzle (local.get $high1) (local.get $high))))
        (local.set $found
          (v128.and
            (v128.and (i8x16.swizzle (local.get $low2) (local.get $low)) (i8x16.swizzle (local.get $high2) (local.get $high)))
            (v128.and
              (i8x16.shuffle 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 (local.get $before1) (local.get $second))
              (i8x16.shuffle 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 (local.get $before0) (local.get $first)))))
        (local.set $before0 (local.get $first))
        (local.set $before1 (local.get $second))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br_if $next (i32.eqz (v128.any_true (local.get $found))))
        (v128.store (i32.const 96) (local.get $found))
        (local.set $mask (i32.xor (i32.const 0xffff) (i8x16.bitmask (i8x16.eq (local.get $found) (v128.const i64x2 0 0)))))
        (loop $note
          (local.set $place (i32.ctz (local.get $mask)))
          (i32.store offset=256 (i32.shl (local.get $count) (i32.const 2))
            (i32.or
              (i32.shl (i32.add (local.get $at) (i32.sub (local.get $place) (i32.const 18))) (i32.const 8))
              (i32.load8_u offset=96 (local.get $place))))
          (local.set $count (i32.add (local.get $count) (i32.const 1)))
          (br_if $note (local.tee $mask (i32.and (local.get $mask) (i32.sub (local.get $mask) (i32.const 1))))))
        (br_if $next (i32.le_s (i32.add (local.get $count) (i32.const 16)) (local.get $room)))))
    (global.set $reached (i32.sub (local.get $at) (i32.const 2)))
    (local.get $count))

  ;; newlines in [$at, $to)
  (func (export "newlines") (param $at i32) (param $to i32) (result i32)
    (local $count i32) (local $stop i32) (local $newline v128) (local $counts v128)
    (local.set $newline (i8x16.splat (i32.const 10)))
    (block $few
      (loop $more
        (br_if $few (i32.lt_s (i32.sub (local.get $to) (local.get $at)) (i32.const 16)))
        ;; a byte counts up to 255
        (local.set $stop
          (select
            (i32.add (local.get $at) (i32.const 4080))
            (i32.sub (local.get $to) (i32.and (i32.sub (local.get $to) (local.get $at)) (i32.const 15)))
            (i32.gt_s (i32.sub (local.get $to) (local.get $at)) (i32.const 4080))))
        (local.set $counts (v128.const i64x2 0 0))
        (loop $next
          (local.set $counts (i8x16.sub (local.get $counts) (i8x16.eq (v128.load (local.get $at)) (local.get $newline))))
          (br_if $next (i32.lt_s (local.tee $at (i32.add (local.get $at) (i32.const 16))) (local.get $stop))))
        (local.set $counts (i32x4.extadd_pairwise_i16x8_u (i16x8.extadd_pairwise_i8x16_u (local.get $counts))))
        (local.set $count
          (i32.add
            (local.get $count)
            (i32.add
              (i32.add (i32x4.extract_lane 0 (local.get $counts)) (i32x4.extract_lane 1 (local.get $counts)))
              (i32.add (i32x4.extract_lane 2 (local.get $counts)) (i32x4.extract_lane 3 (local.get $counts))))))
        (br $more)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_s (local.get $at) (local.get $to)))
        (local.set $count (i32.add (local.get $count) (i32.eq (i32.load8_u (local.get $at)) (i32.const 10))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $next)))
    (local.get $count))

  ;; the last place in [$from, $to) that follows a newline and holds neither a tab nor a blank; -1: none. Looks at 16 at a time, from
  ;; the end on, and so at up to 16 before $from.
  (func (export "lineBefore") (param $from i32) (param $to i32) (result i32)
    (local $mask i32) (local $bytes v128)
    (local $newline v128) (local $tab v128) (local $blank v128)
    (local.set $newline (i8x16.splat (i32.const 10)))
    (local.set $tab (i8x16.splat (i32.const 9)))
    (local.set $blank (i8x16.splat (i32.const 32)))
    (block $none
      (loop $next
        (br_if $none (i32.le_s (local.get $to) (local.get $from)))
        (local.set $to (i32.sub (local.get $to) (i32.const 16)))
        (local.set $bytes (v128.load (local.get $to)))
        (local.set $mask
          (i8x16.bitmask
            (v128.andnot
              (i8x16.eq (v128.load (i32.sub (local.get $to) (i32.const 1))) (local.get $newline))
              (v128.or
                (i8x16.eq (local.get $bytes) (local.get $tab))
                (i8x16.eq (local.get $bytes) (local.get $blank))))))
        (br_if $next (i32.eqz (local.get $mask)))
        (local.set $to (i32.add (local.get $to) (i32.sub (i32.const 31) (i32.clz (local.get $mask)))))
        (br_if $none (i32.lt_s (local.get $to) (local.get $from)))
        (return (local.get $to))))
    (i32.const -1)))
