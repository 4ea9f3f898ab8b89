// Counts hits.
import { newlines } from './bytes'
import { count, hits } from './find'
import {
  hitAt,
  hitEnd,
  hitLine,
  hitNeedle,
  hitSize,
  hitStart,
  isPart,
  isRead,
  kindSize,
  kinds,
  maxKind,
  maxSamples,
  maxSignatures,
  maxStretches,
  mostNames,
  mostReaders,
  mostSlots,
  needles,
  ofCount,
  ofFirst,
  ofFirstLine,
  ofLast,
  ofLine,
  ofRecords,
  ofSamples,
  ofStretches,
  ofUntimed,
  rates,
  rateSize,
  readers,
  signatures,
  slots,
  slotSize,
  slotText,
} from './layout'
import { before, enter, known, record, recordAt, recordTimed, see, seen } from './record'

/** What the caller has to do before it calls `tally` again. */
export const nothing: i32 = 0
export const readHead: i32 = 1
export const keepSample: i32 = 2
export const readText: i32 = 3

/** The hit that is counted. */
export let next: i32 = 0
let step: i32 = 0

/** Only records from then on, and before then; milliseconds since 1970. */
let since: f64 = -Infinity
let until: f64 = Infinity

/** How often a record with a hit is earlier than the one before it, and times of the first, last, earliest, latest. */
export let backwardSteps: i32 = 0
export let firstHit: f64 = NaN
export let lastHit: f64 = NaN
export let earliest: f64 = Infinity
export let latest: f64 = -Infinity
/** Milliseconds; a clock that is corrected by less has not run backwards. */
let backwardMs: f64 = 0

export function want(from: f64, to: f64, backward: f64): void {
  since = from
  until = to
  backwardMs = backward
}

export function begin(): void {
  backwardSteps = 0
  firstHit = NaN
  lastHit = NaN
  earliest = Infinity
  latest = -Infinity
  for (let index = 0; index < maxSignatures; index++) {
    const row = signatures + (index << 6)
    store<f64>(row, -1, ofLine)
    store<i32>(row, 0, ofSamples)
    clear(index)
  }
}

/** Forgets what was counted of a signature, once it has been read. */
export function clear(index: i32): void {
  const row = signatures + (index << 6)
  store<f64>(row, 0, ofCount)
  store<f64>(row, 0, ofUntimed)
  store<f64>(row, 0, ofRecords)
  store<f64>(row, 0, ofFirstLine)
  store<f64>(row, Infinity, ofFirst)
  store<f64>(row, -Infinity, ofLast)
  store<i32>(row, 0, ofStretches)
  store<f64>(rates + index * rateSize, 1000)
}

/** Begins with the first hit that was found. */
export function rewind(): void {
  next = 0
  step = 0
}

/**
 * Counts hits before the one with the index `to`, in lines that are present up to `stop`; `lines` lines end before
 * `from`, where the search began. With `finds`, the record of each line is found; else it is the one that was set.
 */
export function tally(to: i32, stop: i32, from: i32, lines: f64, finds: bool): i32 {
  for (; next < to; next++) {
    const hit = hits + next * hitSize
    const needle = load<i32>(hit, hitNeedle)
    if (needle < 0) continue
    const row = needles + (needle << 3)
    const index = <i32>load<u8>(row, 4)
    if (step == 0) {
      if (finds && !enter(load<i32>(hit, hitStart), stop)) return readHead
      if (recordTimed < since || recordTimed >= until) continue
      step = 1
      const signature = signatures + (index << 6)
      if (seen == 0) noteTime()
      if (load<f64>(signature, ofLine) != load<f64>(hit, hitLine)) {
        const at = load<i32>(hit, hitAt)
        store<f64>(signature, load<f64>(hit, hitLine), ofLine)
        if (load<f64>(signature, ofCount) == 0) {
          store<f64>(signature, lines + <f64>newlines(from, at) + 1, ofFirstLine)
        }
        addLine(signature, index)
        if (isNewSample(signature, index, at, load<i32>(hit, hitEnd))) return keepSample
      }
    }
    const flags = load<u8>(row, 3)
    if (step == 1 && flags & isRead) {
      step = 2
      // with several records open, one that is set again has names of its own
      const isKnown =
        finds &&
        !(flags & isPart) &&
        isRepeated(load<u8>(row, 5), load<i32>(hit, hitAt), load<i32>(hit, hitEnd))
      if (!isKnown) return readText
    }
    step = 0
  }
  return nothing
}

function noteTime(): void {
  const at = recordAt
  if (at != at) return
  if (at < before - backwardMs) backwardSteps++
  see(0, at)
  if (firstHit != firstHit) firstHit = at
  lastHit = at
  earliest = min(earliest, at)
  latest = max(latest, at)
}

function increase(address: i32): void {
  store<f64>(address, load<f64>(address) + 1)
}

function addLine(signature: i32, index: i32): void {
  const bit = 1 << index
  increase(signature + ofCount)
  if (!(seen & bit)) {
    see(bit, before)
    increase(signature + ofRecords)
  }
  const at = recordAt
  if (at != at) return increase(signature + ofUntimed)
  store<f64>(signature, min(load<f64>(signature, ofFirst), at), ofFirst)
  store<f64>(signature, max(load<f64>(signature, ofLast), at), ofLast)
  addToRate(signature, rates + index * rateSize, at)
}

/** Adds a line to the stretches of a rate, which are in order (../tally.ts). */
function addToRate(signature: i32, rate: i32, at: f64): void {
  let stretches = load<i32>(signature, ofStretches)
  const which = rate + 8
  const counts = which + (maxStretches + 1) * 8
  const stretch = Math.floor(at / load<f64>(rate))
  let place = stretches
  while (place > 0 && load<f64>(which + (place << 3) - 8) > stretch) place--
  if (place > 0 && load<f64>(which + (place << 3) - 8) == stretch) return increase(counts + (place << 3) - 8)
  const behind = (stretches - place) << 3
  memory.copy(which + (place << 3) + 8, which + (place << 3), behind)
  memory.copy(counts + (place << 3) + 8, counts + (place << 3), behind)
  store<f64>(which + (place << 3), stretch)
  store<f64>(counts + (place << 3), 1)
  stretches++
  while (stretches > maxStretches) stretches = widened(rate, which, counts, stretches)
  store<i32>(signature, stretches, ofStretches)
}

function widened(rate: i32, which: i32, counts: i32, stretches: i32): i32 {
  store<f64>(rate, load<f64>(rate) * 2)
  let kept = 0
  for (let from = 0; from < stretches; from++) {
    const stretch = Math.floor(load<f64>(which + (from << 3)) / 2)
    const lines = load<f64>(counts + (from << 3))
    const last = counts + (kept << 3) - 8
    if (kept > 0 && load<f64>(which + (kept << 3) - 8) == stretch) store<f64>(last, load<f64>(last) + lines)
    else {
      store<f64>(which + (kept << 3), stretch)
      store<f64>(counts + (kept << 3), lines)
      kept++
    }
  }
  return kept
}

/** Keeps what tells a sample apart: `length` bytes, which the caller puts at the address that is returned. */
export function addKind(index: i32, length: i32): i32 {
  const signature = signatures + (index << 6)
  const samples = load<i32>(signature, ofSamples)
  const kind = kinds + (index * maxSamples + samples) * kindSize
  store<i32>(kind, length)
  store<i32>(signature, samples + 1, ofSamples)
  return kind + 4
}

function isNewSample(signature: i32, index: i32, at: i32, end: i32): bool {
  const samples = load<i32>(signature, ofSamples)
  if (samples >= maxSamples) return false
  for (let sample = 0; sample < samples; sample++) {
    if (isOfKind(at, end, kinds + (index * maxSamples + sample) * kindSize)) return false
  }
  return true
}

/** True if the text from `at` on is the same but for its numbers (../sample.ts). */
function isOfKind(at: i32, end: i32, kind: i32): bool {
  const to = min(end, at + maxKind)
  const length = load<i32>(kind)
  let index = 0
  for (; at < to; index++) {
    const byte = load<u8>(at)
    const isNumber = <u32>(byte - 0x30) <= 9
    if (index == length || load<u8>(kind + 4 + index) != (isNumber ? 0x30 : byte)) return false
    at++
    if (isNumber) while (at < to && <u32>(load<u8>(at) - 0x30) <= 9) at++
  }
  return index == length
}

// texts that were read before, so that the same text need not be read again
const ofName: i32 = 4
const ofRepeats: i32 = 8
const ofText: i32 = 16

export function forgetTexts(): void {
  for (let reader = 0; reader < mostReaders; reader++) {
    store<i32>(readers + (reader << 3), -1)
    for (let slot = slotsOf(reader), over = slotsOf(reader + 1); slot < over; slot += slotSize) store<i32>(slot, 0)
  }
}

function slotsOf(reader: i32): i32 {
  return slots + reader * mostSlots * slotSize
}

/** True if the text was read before. Its name is counted once in each record. */
export function isRepeated(reader: i32, at: i32, end: i32): bool {
  const length = min(end - at, slotText)
  for (let slot = slotsOf(reader), over = slotsOf(reader + 1); slot < over; slot += slotSize) {
    const known = load<i32>(slot)
    if (known == 0) return false
    if (known != length || memory.compare(slot + ofText, at, length) != 0) continue
    const name = load<i32>(slot, ofName)
    if (name >= 0 && countName(reader, name)) store<i32>(slot, load<i32>(slot, ofRepeats) + 1, ofRepeats)
    return true
  }
  return false
}

/** Notes a name in the record; returns false if it was there before. */
export function countName(reader: i32, name: i32): bool {
  const row = readers + (reader << 3)
  const names = namesOf(reader)
  store<i32>(row, record)
  store<i32>(row, names | (1 << name), 4)
  return !(names & (1 << name))
}

/** Returns the names that were counted in the record, a bit each. */
export function namesOf(reader: i32): i32 {
  const row = readers + (reader << 3)
  return load<i32>(row) == record ? load<i32>(row, 4) : 0
}

/** Keeps a text that was read, and the number of its name, if it has one; `name` below 0: it counts nothing. */
export function keepText(reader: i32, at: i32, end: i32, name: i32): void {
  if (name >= mostNames || end <= at) return
  if (name >= 0) countName(reader, name)
  for (let slot = slotsOf(reader), over = slotsOf(reader + 1); slot < over; slot += slotSize) {
    if (load<i32>(slot) != 0) continue
    const length = min(end - at, slotText)
    store<i32>(slot, length)
    store<i32>(slot, name, ofName)
    store<i32>(slot, 0, ofRepeats)
    memory.copy(slot + ofText, at, length)
    return
  }
}

/** Returns how often a name was counted since this was called last. */
export function takeRepeats(reader: i32, name: i32): i32 {
  let sum = 0
  for (let slot = slotsOf(reader), over = slotsOf(reader + 1); slot < over; slot += slotSize) {
    if (load<i32>(slot) == 0) break
    if (load<i32>(slot, ofName) != name) continue
    sum += load<i32>(slot, ofRepeats)
    store<i32>(slot, 0, ofRepeats)
  }
  return sum
}
