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

/**
 * Returns the value under a name from outside; undefined if it is not among the object's own keys. Every object has a
 * `constructor` and a `valueOf` from its prototype, which are not entries of ours.
 */
export function own<T>(of: Readonly<Record<string, T>> | null | undefined, name: string): T | undefined {
  return of != null && Object.hasOwn(of, name) ? of[name] : undefined
}
