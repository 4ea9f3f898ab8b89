;; Looks at four bytes in every eight, in either case, for a gram of a needle: tables of 4,096 places, by the gram's product with $factor,
;; hold the gram, another one that has to be there, and how far on that is, from 0, 16,384 and 32,768 on; what is found goes to 49,152
;; and on: the place from 131,072 on times 4,096, and the place in the tables.
(module
  (import "scan" "memory" (memory 1))
  (global $reached (export "reached") (mut i32) (i32.const 0))
  ;; 1: a zero was among the bytes in which newlines were counted last
  (global $zero (export "zero") (mut i32) (i32.const 0))

  (func $note (param $at i32) (param $gram i32) (param $factor i32) (param $count i32) (result i32)
    (local $place i32)
    (local.set $place (i32.shr_u (i32.mul (local.get $gram) (local.get $factor)) (i32.const 20)))
    (if (result i32)
      (i32.eq
        (i32.or
          (i32.load (i32.add (local.get $at) (i32.load offset=32768 (i32.shl (local.get $place) (i32.const 2)))))
          (i32.const 0x20202020))
        (i32.load offset=16384 (i32.shl (local.get $place) (i32.const 2))))
      (then
        (i32.store offset=49152 (i32.shl (local.get $count) (i32.const 2))
          (i32.or (i32.shl (i32.sub (local.get $at) (i32.const 131072)) (i32.const 12)) (local.get $place)))
        (i32.add (local.get $count) (i32.const 1)))
      (else (local.get $count))))

  ;; Notes places from $at on, every eighth, up to $to and some behind, until less than four notes are left of $room; the number of
  ;; notes. From $reached on is to be looked again.
  (func (export "find") (param $at i32) (param $to i32) (param $room i32) (param $factor i32) (result i32)
    (local $count i32) (local $gram i32)
    (block $done
      (loop $next
        (br_if $done (i32.ge_s (local.get $at) (local.get $to)))
        (if
          (i32.eq
            (local.tee $gram (i32.or (i32.load (local.get $at)) (i32.const 0x20202020)))
            (i32.load (i32.and (i32.shr_u (i32.mul (local.get $gram) (local.get $factor)) (i32.const 18)) (i32.const 0x3ffc))))
          (then (local.set $count (call $note (local.get $at) (local.get $gram) (local.get $factor) (local.get $count)))))
        (if
          (i32.eq
            (local.tee $gram (i32.or (i32.load offset=8 (local.get $at)) (i32.const 0x20202020)))
            (i32.load (i32.and (i32.shr_u (i32.mul (local.get $gram) (local.get $factor)) (i32.const 18)) (i32.const 0x3ffc))))
          (then (local.set $count (call $note (i32.add (local.get $at) (i32.const 8)) (local.get $gram) (local.get $factor) (local.get $count)))))
        (if
          (i32.eq
            (local.tee $gram (i32.or (i32.load offset=16 (local.get $at)) (i32.const 0x20202020)))
            (i32.load (i32.and (i32.shr_u (i32.mul (local.get $gram) (local.get $factor)) (i32.const 18)) (i32.const 0x3ffc))))
          (then (local.set $count (call $note (i32.add (local.get $at) (i32.const 16)) (local.get $gram) (local.get $factor) (local.get $count)))))
        (if
          (i32.eq
            (local.tee $gram (i32.or (i32.load offset=24 (local.get $at)) (i32.const 0x20202020)))
            (i32.load (i32.and (i32.shr_u (i32.mul (local.get $gram) (local.get $factor)) (i32.const 18)) (i32.const 0x3ffc))))
          (then (local.set $count (call $note (i32.add (local.get $at) (i32.const 24)) (local.get $gram) (local.get $factor) (local.get $count)))))
        (local.set $at (i32.add (local.get $at) (i32.const 32)))
        (br_if $next (i32.le_s (i32.add (local.get $count) (i32.const 4)) (local.get $room)))))
    (global.set $reached (local.get $at))
    (local.get $count))

  ;; newlines in [$at, $to)
  (func (export "newlines") (param $at i32) (param $to i32) (result i32)
    (local $count i32) (local $stop i32) (local $newline v128) (local $counts v128) (local $odd v128)
    (local $one v128) (local $other v128) (local $least v128)
    (global.set $zero (i32.const 0))
    (local.set $newline (i8x16.splat (i32.const 10)))
    (block $few
      (loop $more
        (br_if $few (i32.lt_s (i32.sub (local.get $to) (local.get $at)) (i32.const 32)))
        ;; a byte counts up to 255
        (local.set $stop
          (select
            (i32.add (local.get $at) (i32.const 8160))
            (i32.sub (local.get $to) (i32.and (i32.sub (local.get $to) (local.get $at)) (i32.const 31)))
            (i32.gt_s (i32.sub (local.get $to) (local.get $at)) (i32.const 8160))))
        (local.set $counts (v128.const i64x2 0 0))
        (local.set $odd (v128.const i64x2 0 0))
        (local.set $least (local.get $newline))
        (loop $next
          (local.set $one (v128.load (local.get $at)))
          (local.set $other (v128.load offset=16 (local.get $at)))
          (local.set $counts (i8x16.sub (local.get $counts) (i8x16.eq (local.get $one) (local.get $newline))))
          (local.set $odd (i8x16.sub (local.get $odd) (i8x16.eq (local.get $other) (local.get $newline))))
          (local.set $least (i8x16.min_u (local.get $least) (i8x16.min_u (local.get $one) (local.get $other))))
          (br_if $next (i32.lt_s (local.tee $at (i32.add (local.get $at) (i32.const 32))) (local.get $stop))))
        (if (i32.eqz (i8x16.all_true (local.get $least))) (then (global.set $zero (i32.const 1))))
        (local.set $counts
          (i32x4.extadd_pairwise_i16x8_u
            (i16x8.add (i16x8.extadd_pairwise_i8x16_u (local.get $counts)) (i16x8.extadd_pairwise_i8x16_u (local.get $odd)))))
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
        (if (i32.eqz (i32.load8_u (local.get $at))) (then (global.set $zero (i32.const 1))))
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
