// Finds needles: looks at four bytes in every eight, in either case, for a gram of a needle (../needles.ts).
import { newlineBefore, newlineFrom } from './bytes'
import {
  distances,
  entries,
  firstEntries,
  grams,
  hitAt,
  hitEnd,
  hitLine,
  hitNeedle,
  hitSize,
  hitStart,
  ignoresCase,
  isPart,
  needles,
  others,
  texts,
} from './layout'

const bothCases: i32 = 0x20202020

/** Where hits are, and how many. */
export let hits: i32 = 0
export let count: i32 = 0
/** How many of them show no match by themselves. */
export let doubtful: i32 = 0

let furthest: i32 = 0
let factor: i32 = 0
let from: i32 = 0
let to: i32 = 0
let end: i32 = 0

/** Says where hits go, how long the longest needle is, and the factor of the tables. */
export function prepare(at: i32, longest: i32, multiplier: i32): void {
  hits = at
  furthest = longest
  factor = multiplier
}

/** Finds the needles that begin in [first, stop) and end before `last`, in order; returns their number. */
export function find(first: i32, stop: i32, last: i32): i32 {
  from = first
  to = stop
  end = last
  count = 0
  doubtful = 0
  const over = min(stop + furthest, last)
  for (let at = first; at < over; at += 32) {
    look(at)
    look(at + 8)
    look(at + 16)
    look(at + 24)
  }
  return count
}

// @ts-ignore: decorator
@inline
function look(at: i32): void {
  const gram = load<i32>(at) | bothCases
  const place = (<u32>(gram * factor) >> 18) & 0x3ffc
  if (gram == load<i32>(place, <usize>grams)) note(at, place)
}

/** Notes what has its gram of that place there. */
function note(at: i32, place: i32): void {
  const other = load<i32>(at + load<i32>(place, <usize>distances)) | bothCases
  if (other != load<i32>(place, <usize>others)) return
  const first = firstEntries + (place >> 1)
  const last = <i32>load<u16>(first, 2)
  for (let index = <i32>load<u16>(first); index < last; index++) {
    const needle = <i32>load<u16>(entries + (index << 2))
    const begin = at - <i32>load<u16>(entries + (index << 2), 2)
    if (begin >= from && begin < to && stands(needle, begin)) add(begin, needle)
  }
}

function stands(needle: i32, at: i32): bool {
  const row = needles + (needle << 3)
  const length = <i32>load<u8>(row, 2)
  if (at + length > end) return false
  const text = texts + <i32>load<u16>(row)
  const isFree = load<u8>(row, 3) & ignoresCase
  for (let index = 0; index < length; index++) {
    const byte = <i32>load<u8>(at + index)
    const code = <i32>load<u8>(text + index)
    if (byte == code) continue
    const letter = code | 0x20
    if (!isFree || (byte | 0x20) != letter || letter < 0x61 || letter > 0x7a) return false
  }
  return true
}

/** Adds a hit in order; by far most come in order. */
function add(begin: i32, needle: i32): void {
  let row = hits + count * hitSize
  for (; row > hits && load<i32>(row - hitSize, hitAt) > begin; row -= hitSize) memory.copy(row, row - hitSize, hitSize)
  store<i32>(row, begin, hitAt)
  store<i32>(row, needle, hitNeedle)
  count++
  if (load<u8>(needles + (needle << 3), 3) & isPart) doubtful++
}

/** Finds the line of each hit, up to `stop`; hits before `until` are in the line that begins at `start`, `line`. */
export function findLines(stop: i32, origin: f64, start: i32, until: i32, line: f64): void {
  for (let row = hits, over = hits + count * hitSize; row < over; row += hitSize) {
    const at = load<i32>(row, hitAt)
    if (at >= until) {
      start = newlineBefore(at) + 1
      until = newlineFrom(at, stop)
      if (until > at && load<u8>(until - 1) == 13) until--
      line = origin + <f64>start
    }
    store<i32>(row, start, hitStart)
    store<i32>(row, until, hitEnd)
    store<f64>(row, line, hitLine)
  }
}
