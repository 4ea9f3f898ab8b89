import { firstAbove } from '../../core/sorted.ts'

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
