/**
 * What stands under a name that came from outside; undefined where that is none of the object's own keys. Every object
 * has a `constructor` and a `valueOf` from its prototype, which are no entries of ours.
 */
export function own<T>(of: Readonly<Record<string, T>> | null | undefined, name: string): T | undefined {
  return of != null && Object.hasOwn(of, name) ? of[name] : undefined
}
