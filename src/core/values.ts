import { isDeepStrictEqual } from 'node:util'
import { own } from './lookup.ts'
import { isObject } from './shape.ts'
import type { ValueEdit } from './sources/files.ts'

/** Values of a chart, as JSON has them. */
export type Values = Readonly<Record<string, unknown>>

/** The wanted value at a path; null: missing or empty. */
export type WantedValue = Pick<ValueEdit, 'path' | 'to'>

/** Returns the value at a path, as it would be written into a file; null: missing or empty. */
export function textAt(values: Values, path: readonly string[]): string | null {
  const found = path.reduce<unknown>(
    (it, key) => (typeof it === 'object' && it !== null ? own(it as Values, key) : undefined),
    values,
  )
  return found === undefined || found === null ? null : typeof found === 'string' ? found : JSON.stringify(found)
}

/** Returns true if all of these values are there. */
export function hasAll(values: Values, wanted: readonly WantedValue[]): boolean {
  return wanted.every(({ path, to }) => textAt(values, path) === to)
}

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
