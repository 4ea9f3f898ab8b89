import { isDeepStrictEqual } from 'node:util'
import { isObject } from './shape.ts'
import { own } from './own.ts'

/** Returns the paths at which two trees of values differ, as deep as they are maps; a list is one value. */
export function differing(one: unknown, other: unknown, at: readonly string[] = []): (readonly string[])[] {
  if (isDeepStrictEqual(one, other)) return []
  if (!isObject(one) || !isObject(other)) return leavesOf(one, other, at)
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].flatMap((key) =>
    differing(own(one, key), own(other, key), [...at, key]),
  )
}

/** A map on one side only stands for its own values; an empty one for itself. */
function leavesOf(one: unknown, other: unknown, at: readonly string[]): (readonly string[])[] {
  const map = one === undefined && isObject(other) ? other : other === undefined && isObject(one) ? one : null
  const keys = map === null ? [] : Object.keys(map)
  return keys.length === 0 ? [at] : keys.flatMap((key) => differing(map![key], undefined, [...at, key]))
}
