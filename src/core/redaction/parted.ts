import { withoutSecrets } from './index.ts'

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
