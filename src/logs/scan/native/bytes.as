// Looks for bytes, sixteen at a time where the processor can: each function may look at some bytes on either side.

/** Address of the first byte of a block. */
export let block: i32 = 0

export function setBlock(at: i32): void {
  block = at
}

/** True if a zero was among the bytes in which newlines were counted last. */
export let hasZero: bool = false

/** Returns how many newlines are in [at, to). */
export function newlines(at: i32, to: i32): i32 {
  let count = 0
  hasZero = false
  if (ASC_FEATURE_SIMD) {
    const newline = i8x16.splat(10)
    while (to - at >= 32) {
      // a byte counts up to 255
      const stop = to - at > 8160 ? at + 8160 : to - ((to - at) & 31)
      let even = i64x2.splat(0)
      let odd = i64x2.splat(0)
      let least = newline
      while (at < stop) {
        const one = v128.load(at)
        const other = v128.load(at, 16)
        even = i8x16.sub(even, i8x16.eq(one, newline))
        odd = i8x16.sub(odd, i8x16.eq(other, newline))
        least = i8x16.min_u(least, i8x16.min_u(one, other))
        at += 32
      }
      if (!i8x16.all_true(least)) hasZero = true
      const sums = i32x4.extadd_pairwise_i16x8_u(
        i16x8.add(i16x8.extadd_pairwise_i8x16_u(even), i16x8.extadd_pairwise_i8x16_u(odd)),
      )
      count +=
        i32x4.extract_lane(sums, 0) +
        i32x4.extract_lane(sums, 1) +
        i32x4.extract_lane(sums, 2) +
        i32x4.extract_lane(sums, 3)
    }
  }
  for (; at < to; at++) {
    const byte = load<u8>(at)
    count += i32(byte == 10)
    if (byte == 0) hasZero = true
  }
  return count
}

/** Returns where the first newline in [at, end) is; `end` if there is none. */
export function newlineFrom(at: i32, end: i32): i32 {
  if (ASC_FEATURE_SIMD) {
    const newline = i8x16.splat(10)
    for (; at < end; at += 16) {
      const mask = i8x16.bitmask(i8x16.eq(v128.load(at), newline))
      if (mask) return min(at + ctz(mask), end)
    }
    return end
  }
  while (at < end && load<u8>(at) != 10) at++
  return at
}

/** Returns where the last newline before `at` is; the place before the block if there is none. */
export function newlineBefore(at: i32): i32 {
  if (ASC_FEATURE_SIMD) {
    const newline = i8x16.splat(10)
    while (at > block) {
      at -= 16
      const mask = i8x16.bitmask(i8x16.eq(v128.load(at), newline))
      if (mask) return max(at + 31 - clz(mask), block - 1)
    }
    return block - 1
  }
  at--
  while (at >= block && load<u8>(at) != 10) at--
  return at
}

/** Returns where, in [from, to), the last line begins that starts with neither a blank nor a tab; -1 if none does. */
export function lineBefore(from: i32, to: i32): i32 {
  if (ASC_FEATURE_SIMD) {
    const newline = i8x16.splat(10)
    const tab = i8x16.splat(9)
    const blank = i8x16.splat(32)
    for (let at = to; at > max(from, block + 1); ) {
      at -= 16
      const bytes = v128.load(at)
      const mask = i8x16.bitmask(
        v128.andnot(
          i8x16.eq(v128.load(at - 1), newline),
          v128.or(i8x16.eq(bytes, tab), i8x16.eq(bytes, blank)),
        ),
      )
      if (!mask) continue
      const found = at + 31 - clz(mask)
      if (found > block) return found >= from ? found : -1
      break
    }
  } else {
    for (let at = to - 1; at >= max(from, block + 1); at--) {
      if (load<u8>(at - 1) == 10 && startsLine(at)) return at
    }
  }
  return from <= block && block < to && startsLine(block) ? block : -1
}

function startsLine(at: i32): bool {
  const byte = load<u8>(at)
  return byte != 9 && byte != 32
}
