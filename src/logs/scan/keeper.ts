/** Keeps the first few things that differ. */
export interface Keeper<T> {
  isFull(): boolean
  /** whether one of those that are kept has such a key */
  some(this: void, isIt: (key: string) => boolean): boolean
  add(it: T): void
  all(): readonly T[]
}

export function keeper<T>(most: number, keyOf: (it: T) => string): Keeper<T> {
  const keys: string[] = []
  const things: T[] = []
  const isFull = (): boolean => things.length >= most
  return {
    isFull,
    // asked at each match of a log: an iterator would cost more than the rest
    some(isIt) {
      for (let index = 0; index < keys.length; index += 1) if (isIt(keys[index]!)) return true
      return false
    },
    add(it) {
      const key = keyOf(it)
      if (isFull() || keys.includes(key)) return
      keys.push(key)
      things.push(it)
    },
    all: () => [...things],
  }
}
