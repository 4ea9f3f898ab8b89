import type { ValueEdit } from './sources/files.ts'
import { own } from './own.ts'

/** Values of a chart, as JSON has them. */
export type Values = Readonly<Record<string, unknown>>

/** A value as it is to be; null: not there, or nothing. */
export type WantedValue = Pick<ValueEdit, 'path' | 'to'>

/** As it would be written into a file; null: not there, or nothing. */
export function textAt(values: Values, path: readonly string[]): string | null {
  const found = path.reduce<unknown>(
    (it, key) => (typeof it === 'object' && it !== null ? own(it as Values, key) : undefined),
    values,
  )
  return found === undefined || found === null ? null : typeof found === 'string' ? found : JSON.stringify(found)
}

/** Whether these values are all there. */
export function hasAll(values: Values, wanted: readonly WantedValue[]): boolean {
  return wanted.every(({ path, to }) => textAt(values, path) === to)
}
