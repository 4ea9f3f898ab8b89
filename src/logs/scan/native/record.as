// Finds the record of a line: reads from the line back to the first one that begins a record, and on to one with a
// time.
import { lineBefore, newlineBefore } from './bytes'

/** The record of the line that was looked for last: its own time, else NaN; with it, that of an earlier record. */
export let recordAt: f64 = NaN
export let recordTimed: f64 = NaN
/** The signatures found in it, a bit each; which record it is; the time of the last record with a hit before it. */
export let seen: i32 = 0
export let record: i32 = 0
export let before: f64 = NaN
/** All lines that begin before it are passed. */
export let known: i32 = 0
/** The line whose beginning the caller has to read, and to answer. */
export let unread: i32 = -1

/** Milliseconds of a quarter of an hour: zones change their offset only on these. */
const quarter: i32 = 900_000
/** Bytes of a date up to the hour, as they were learned; when that hour began, and which quarter of it. */
const hourLength: i32 = 13
const hour = <i32>memory.data(16, 16)
let hasHour: bool = false
let began: f64 = 0
let which: i32 = 0

/** The line that is looked at on the way back; -1 if no further one begins after `known`. */
let looking: i32 = -1
let isLooking: bool = false
let isHeadFound: bool = false
let headAt: f64 = NaN
let timed: f64 = NaN

export function setRecord(at: f64, time: f64, bits: i32, previous: f64): void {
  recordAt = at
  recordTimed = time
  seen = bits
  before = previous
  record++
}

export function see(bits: i32, at: f64): void {
  seen |= bits
  before = at
}

export function setKnown(at: i32): void {
  known = at
}

export function forget(): void {
  hasHour = false
  isLooking = false
  unread = -1
  known = 0
  setRecord(NaN, NaN, 0, NaN)
}

/** Learns the time of a line that begins with its date; returns false if that has another form. */
export function learn(at: i32, time: f64): bool {
  if (!isDay(at)) return false
  const since = sinceHour(at)
  if (since < 0) return false
  memory.copy(hour, at, hourLength)
  began = time - <f64>since
  which = since / quarter
  hasHour = true
  return true
}

/** Returns the time of a line whose date is in the learned quarter of an hour, and written alike; else NaN. */
export function timeOf(at: i32, end: i32): f64 {
  if (!hasHour || end - at < 24) return NaN
  // from the hour on, which differs most
  if (load<u64>(at, 5) != load<u64>(hour, 5) || load<u64>(at) != load<u64>(hour)) return NaN
  const since = sinceHour(at)
  return since >= 0 && since / quarter == which ? began + <f64>since : NaN
}

// @ts-ignore: decorator
@inline
function digit(at: i32): i32 {
  return <i32>load<u8>(at) - 0x30
}

// @ts-ignore: decorator
@inline
function isDigit(byte: i32): bool {
  return <u32>(byte - 0x30) <= 9
}

// @ts-ignore: decorator
@inline
function isLetter(byte: i32): bool {
  return <u32>((byte | 0x20) - 0x61) <= 25
}

/** True for a byte of a container's name. */
// @ts-ignore: decorator
@inline
function isOfName(byte: i32): bool {
  return isLetter(byte) || isDigit(byte) || byte == 0x5f || byte == 0x2e || byte == 0x2d
}

/** True if a day and an hour stand there, as in 2026-11-22 10 or 2026-11-22T10. */
function isDay(at: i32): bool {
  for (let index = 0; index < hourLength; index++) {
    const byte = <i32>load<u8>(at + index)
    if (index == 4 || index == 7) {
      if (byte != 0x2d) return false
    } else if (index == 10) {
      if (byte != 0x20 && byte != 0x54) return false
    } else if (!isDigit(byte)) return false
  }
  return true
}

/** Returns milliseconds since the hour, if minutes, seconds and three digits of their fraction stand there; else -1. */
function sinceHour(at: i32): i32 {
  const point = load<u8>(at, 19)
  if (load<u8>(at, 13) != 0x3a || load<u8>(at, 16) != 0x3a || load<u8>(at, 23) != 0x20) return -1
  if (point != 0x2e && point != 0x2c) return -1
  const minutes = digit(at + 14)
  const seconds = digit(at + 17)
  if (<u32>minutes > 5 || <u32>seconds > 5) return -1
  for (let index = 15; index < 23; index++) {
    if (index != 16 && index != 19 && <u32>digit(at + index) > 9) return -1
  }
  return (
    minutes * 600_000 +
    digit(at + 15) * 60_000 +
    seconds * 10_000 +
    digit(at + 18) * 1000 +
    digit(at + 20) * 100 +
    digit(at + 21) * 10 +
    digit(at + 22)
  )
}

/** True if the first word shows that the line begins no record; false if the line must be read. */
export function goesOn(start: i32, end: i32): bool {
  const first = <i32>load<u8>(start)
  // what the C library prints begins with an F
  if (!isLetter(first) || first == 0x46) return false
  let at = start
  while (at < end && isOfName(load<u8>(at))) at++
  // three letters may be the name of a month, before a date
  if (load<u8>(at) == 0x20 && at - start == 3) return false
  while (at < end && load<u8>(at) == 0x20) at++
  return at < end && load<u8>(at) != 0x7c && load<u8>(at) != 0x1b
}

/**
 * Goes to the record of the line that begins at `start`; lines must come in order. False if the caller has to read the
 * line at `unread`, answer, and call again.
 */
export function enter(start: i32, end: i32): bool {
  if (!isLooking) {
    if (known > start) return true
    isLooking = true
    looking = lineBefore(known, start + 1)
    isHeadFound = false
    headAt = NaN
    timed = NaN
  }
  while (looking >= 0 && timed != timed) {
    const time = timeOf(looking, end)
    if (time == time) answer(true, time)
    else if (goesOn(looking, end)) looking = lineBefore(known, looking)
    else {
      unread = looking
      return false
    }
  }
  isLooking = false
  if (isHeadFound) setRecord(headAt, timed == timed ? timed : recordTimed, 0, before)
  known = start + 1
  return true
}

/** What was read of a line: whether it begins a record, and its time, else NaN. */
export function answer(begins: bool, at: f64): void {
  if (begins) {
    if (!isHeadFound) headAt = at
    isHeadFound = true
    timed = at
  }
  looking = lineBefore(known, looking)
}

/** Passes all lines that begin before `to`; false as in `enter`. */
export function pass(to: i32): bool {
  if (to <= known) return true
  // the last line that begins before it
  if (!enter(newlineBefore(to - 1) + 1, to)) return false
  known = to
  return true
}
