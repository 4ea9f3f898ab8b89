/**
 * Returns the value under a name from outside; undefined if it is not among the object's own keys. Every object has a
 * `constructor` and a `valueOf` from its prototype, which are not entries of ours.
 */
export function own<T>(of: Readonly<Record<string, T>> | null | undefined, name: string): T | undefined {
  return of != null && Object.hasOwn(of, name) ? of[name] : undefined
}
