import { needlessStamp } from './line-head.ts'
import { partedWithoutSecrets } from '../../core/redaction/given.ts'

/** A line with a match, as far as it is near the match. */
export interface Sample {
  /** What tells samples apart: the text from the match on, without its numbers */
  readonly kind: string
  /** The line before the match, and from the match on */
  readonly before: string
  readonly after: string
  /** True if these reach to the line's beginning, and to its end */
  readonly isStart: boolean
  readonly isEnd: boolean
}

/** Bytes from a match on that tell samples apart. */
export const told = 100

/** Returns what tells apart the sample of a match at `at`, in a line that ends at `end`. */
export function kindAt(text: Buffer, at: number, end: number): string {
  return text.toString('latin1', at, Math.min(end, at + told)).replace(/[0-9]+/g, '0')
}

/** Maximum characters shown of a line, and of those before the match in a longer line */
const [shown, lead] = [300, 80]

const unprintable = /\p{Cc}|\p{Cf}|\p{Co}|\p{Cn}/gu
const colours = /\x1b\[[0-9;]*[A-Za-z]/g

/**
 * Returns the line, cut around the match if it is long; nothing in it moves a cursor. `hide` removes secrets before the
 * cut.
 */
export function sampleText({ before, after, isStart, isEnd }: Sample, hide: (text: string) => string): string {
  const [ahead, behind] = [isStart ? before.slice(needlessStamp(`${before}${after}`)) : before, after].map((text) =>
    text.replace(colours, '').replace(unprintable, ' '),
  ) as [string, string]
  const [left, right] = partedWithoutSecrets(ahead, behind, hide)
  if (isStart && isEnd && left.length + right.length <= shown) return `${left}${right}`.trim()
  const start = isStart && left.length <= lead * 2 ? left : `…${fromBlank(left.slice(-lead))}`
  const room = shown - start.length
  const end = isEnd || right.length > room ? right.slice(0, room) : toBlank(right)
  return `${start}${end}${isEnd && end.length === right.length ? '' : '…'}`.trim()
}

/** Drops the first, cut word: it may be half of a secret, which would not be recognized. */
function fromBlank(text: string): string {
  const blank = text.search(/\s/)
  return blank < 0 ? '' : text.slice(blank)
}

function toBlank(text: string): string {
  return text.slice(0, Math.max(0, text.search(/\s\S*$/)))
}
