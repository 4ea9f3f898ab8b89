import type { LineHead } from './line-head.ts'

/**
 * Knows without reading them as text how the lines begin that a log is full of, and answers as the reader of heads
 * does.
 */
export interface QuickHead {
  /**
   * of a line whose date is in the same quarter of an hour as one that was learned, and written alike; null: it has to
   * be read
   */
  of(lineStart: number, end: number): LineHead | null
  /** what was read of a line */
  learn(lineStart: number, head: LineHead): void
  /** the line begins no record, as far as that can be told by its first word; false: it has to be read */
  goesOn(lineStart: number, end: number): boolean
}

/**
 * bytes of a date up to the hour, and of all that is before the text: minutes, seconds, three digits of their fraction,
 * a blank
 */
const [hour, whole] = [13, 24]
/** zones change their offset on these only */
const quarter = 900_000
const dated = /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[.,]\d{3} $/
/** where a digit is after the hour */
const digits = [14, 15, 17, 18, 20, 21, 22]
const [blank, colon, bar, escape, capitalF] = [0x20, 0x3a, 0x7c, 0x1b, 0x46]

const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39
const isLetter = (byte: number): boolean => (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a
/** what a container's name is made of */
const isOfName = (byte: number): boolean =>
  isLetter(byte) || isDigit(byte) || byte === 0x5f || byte === 0x2e || byte === 0x2d

export function quickHead(bytes: Uint8Array): QuickHead {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const known = new Uint8Array(hour)
  /** when that hour began, if all of it were like the quarter that is known, counted from 0; null: none is known */
  let began: number | null = null
  let which = 0

  /** Milliseconds since the hour; -1: there is something else. */
  const sinceHour = (at: number): number => {
    const digit = (index: number): number => bytes[at + index]! - 0x30
    for (const index of digits) if (!isDigit(bytes[at + index]!)) return -1
    const point = bytes[at + 19]
    if (
      bytes[at + 13] !== colon ||
      bytes[at + 16] !== colon ||
      (point !== 0x2e && point !== 0x2c) ||
      bytes[at + 23] !== blank
    )
      return -1
    if (digit(14) > 5 || digit(17) > 5) return -1
    return (
      digit(14) * 600_000 +
      digit(15) * 60_000 +
      digit(17) * 10_000 +
      digit(18) * 1000 +
      digit(20) * 100 +
      digit(21) * 10 +
      digit(22)
    )
  }
  return {
    of(lineStart, end) {
      if (began === null || end - lineStart < whole) return null
      for (let index = hour - 1; index >= 0; index -= 1) if (bytes[lineStart + index] !== known[index]) return null
      const since = sinceHour(lineStart)
      return since < 0 || Math.floor(since / quarter) !== which
        ? null
        : { key: '', isKeySure: true, begins: true, isDated: true, at: began + since, looksFirst: true }
    },
    learn(lineStart, { at }) {
      if (at === null || !dated.test(text.toString('latin1', lineStart, lineStart + whole))) return
      known.set(bytes.subarray(lineStart, lineStart + hour))
      const since = sinceHour(lineStart)
      began = at - since
      which = Math.floor(since / quarter)
    },
    goesOn(lineStart, end) {
      // what the C library prints begins with an F
      if (!isLetter(bytes[lineStart]!) || bytes[lineStart] === capitalF) return false
      let at = lineStart
      while (at < end && isOfName(bytes[at]!)) at += 1
      // the name of a month may be before a date
      if (bytes[at] === blank && at - lineStart === 3) return false
      while (at < end && bytes[at] === blank) at += 1
      return at < end && bytes[at] !== bar && bytes[at] !== escape
    },
  }
}
