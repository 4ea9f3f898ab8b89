import { placeIn } from './sorted.ts'

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
