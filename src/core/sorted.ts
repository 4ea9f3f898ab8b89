/** Returns the index of the first number above that one in a sorted list; its length if there is none. */
export function firstAbove(sorted: ArrayLike<number>, number: number): number {
  let from = 0
  let to = sorted.length
  while (from < to) {
    const middle = (from + to) >>> 1
    if (sorted[middle]! > number) to = middle
    else from = middle + 1
  }
  return from
}
