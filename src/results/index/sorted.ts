/** Returns a copy in ascending order without repetitions. */
export function sortedSet(values: Float64Array): Float64Array<ArrayBuffer> {
  const sorted = values.slice().sort()
  let length = 0
  for (const value of sorted) if (length === 0 || value !== sorted[length - 1]) sorted[length++] = value
  return sorted.subarray(0, length)
}

/** Returns the index of the value in a sorted array; -1 if it is missing. */
export function placeIn(sorted: Float64Array, value: number): number {
  let low = 0
  let high = sorted.length - 1
  while (low <= high) {
    const middle = (low + high) >>> 1
    const there = sorted[middle]!
    if (there === value) return middle
    if (there < value) low = middle + 1
    else high = middle - 1
  }
  return -1
}
