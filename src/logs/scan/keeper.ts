/** Keeps the first few things that differ. */
export interface Keeper<T> {
  isFull(): boolean
  /** whether one of those that are kept has such a key */
  some(this: void, isIt: (key: string) => boolean): boolean
  add(it: T): void
  all(): readonly T[]
}

export function keeper<T>(most: number, keyOf: (it: T) => string): Keeper<T> {
  const things = new Map<string, T>()
  const isFull = (): boolean => things.size >= most
  return {
    isFull,
    some(isIt) {
      for (const key of things.keys()) if (isIt(key)) return true
      return false
    },
    add(it) {
      const key = keyOf(it)
      if (!isFull() && !things.has(key)) things.set(key, it)
    },
    all: () => [...things.values()],
  }
}
