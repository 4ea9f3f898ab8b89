import type { ValueEdit } from './sources/files.ts'
import { own } from './own.ts'

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
