import { mask } from './table.ts'

/**
 * Returns text without these secret values. A value shorter than `anywhere` characters is hidden only if it stands
 * alone, and if it is no plain word or number, of which any text has many.
 */
export function withoutValues(text: string, values: Iterable<string>, { anywhere }: { anywhere: number }): string {
  const all = [...values].filter(
    (it) => it.length >= anywhere || (it.length > 2 && /[a-z]/i.test(it) && /[^a-z]/i.test(it)),
  )
  const hidden = (left: string, value: string): string =>
    value.length >= anywhere ? left.replaceAll(value, mask) : left.replace(alone(value), mask)
  // the longest first, since one may contain another
  return all.sort((one, other) => other.length - one.length).reduce(hidden, text)
}

function alone(value: string): RegExp {
  return new RegExp(`(?<!\\w)${value.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}(?!\\w)`, 'g')
}
