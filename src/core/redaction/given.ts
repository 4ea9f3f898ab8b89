import { withoutSecrets } from './index.ts'
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

/**
 * Returns two parts of one text without its secrets. A secret that begins in the first part and ends in the second is
 * hidden in both.
 */
export function partedWithoutSecrets(
  before: string,
  after: string,
  hide: (text: string) => string = withoutSecrets,
): [string, string] {
  const [first, whole] = [hide(before), hide(before + after)]
  let same = 0
  while (same < first.length && first[same] === whole[same]) same += 1
  return [whole.slice(0, same), whole.slice(same)]
}
