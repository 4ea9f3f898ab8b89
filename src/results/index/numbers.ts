import { firstAbove } from '../../core/lookup.ts'

/** Numbers in the order in which they were added, eight bytes each. */
export interface Numbers {
  readonly length: number
  add(value: number): void
  addAll(values: Float64Array): void
  /** returns all of them, in a view that the next addition may outdate */
  all(): Float64Array<ArrayBuffer>
}

export function numbers(room = 256): Numbers {
  let kept = new Float64Array(room)
  let length = 0
  const makeRoom = (more: number): void => {
    if (length + more <= kept.length) return
    const wider = new Float64Array(Math.max(kept.length * 2, length + more))
    wider.set(kept.subarray(0, length))
    kept = wider
  }
  return {
    get length() {
      return length
    },
    add(value) {
      if (length === kept.length) makeRoom(1)
      kept[length] = value
      length += 1
    },
    addAll(values) {
      makeRoom(values.length)
      kept.set(values, length)
      length += values.length
    },
    all: () => kept.subarray(0, length),
  }
}

/** Hashes a text to a whole number below 2^53; almost every other text gets another number. */
export type Hash = (text: string) => number

/** Hashes a text with cyrb53 (bryc, public domain), in one pass over its UTF-16 code units. */
export function hash53(text: string): number {
  let one = 0xdeadbeef
  let two = 0x41c6ce57
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    one = Math.imul(one ^ unit, 0x9e3779b1)
    two = Math.imul(two ^ unit, 0x5f356495)
  }
  one = Math.imul(one ^ (one >>> 16), 0x85ebca6b) ^ Math.imul(two ^ (two >>> 13), 0xc2b2ae35)
  two = Math.imul(two ^ (two >>> 16), 0x85ebca6b) ^ Math.imul(one ^ (one >>> 13), 0xc2b2ae35)
  return (two & 0x1fffff) * 0x1_0000_0000 + (one >>> 0)
}

/** Returns a copy in ascending order without repetitions. */
export function sortedSet(values: Float64Array): Float64Array<ArrayBuffer> {
  const sorted = values.slice().sort()
  let length = 0
  for (const value of sorted) if (length === 0 || value !== sorted[length - 1]) sorted[length++] = value
  return sorted.subarray(0, length)
}

/** Returns the index of the value in a sorted array; -1 if it is missing. */
export function placeIn(sorted: Float64Array, value: number): number {
  const at = firstAbove(sorted, value) - 1
  return sorted[at] === value ? at : -1
}

/**
 * Yields the indices of each value that occurs at least twice, in ascending order; ignores NaN. Groups come in the
 * order of their first index.
 */
export function* repeated(values: Float64Array): Generator<Uint32Array> {
  const twice = repeatedValues(values)
  const ends = new Uint32Array(twice.length + 1)
  for (const value of values) {
    const group = placeIn(twice, value)
    if (group >= 0) ends[group + 1]! += 1
  }
  for (let group = 0; group < twice.length; group += 1) ends[group + 1]! += ends[group]!
  const members = new Uint32Array(ends[twice.length]!)
  const next = ends.slice()
  const order = new Uint32Array(twice.length)
  let groups = 0
  for (let index = 0; index < values.length; index += 1) {
    const group = placeIn(twice, values[index]!)
    if (group < 0) continue
    if (next[group] === ends[group]) order[groups++] = group
    members[next[group]!++] = index
  }
  for (const group of order) yield members.subarray(ends[group], ends[group + 1])
}

function repeatedValues(values: Float64Array): Float64Array {
  // NaN is sorted to the end
  const sorted = values.slice().sort()
  let length = 0
  for (let index = 1; index < sorted.length; index += 1) {
    const value = sorted[index]!
    if (value === sorted[index - 1] && (length === 0 || sorted[length - 1] !== value)) sorted[length++] = value
  }
  return sorted.slice(0, length)
}
