import type { LineHead } from './line-head.ts'

/** Recognizes how most lines of a log begin without reading them as text. Answers as the reader of heads does. */
export interface QuickHead {
  /**
   * Returns the head of a line whose date is in the same quarter of an hour as a learned one, and written alike; null
   * if the line must be read
   */
  of(lineStart: number, end: number): LineHead | null
  /** Learns the head that was read of a line */
  learn(lineStart: number, head: LineHead): void
  /** True if the first word shows that the line begins no record; false if the line must be read */
  goesOn(lineStart: number, end: number): boolean
}

/**
 * Bytes of a date up to the hour, and of everything before the text: also minutes, seconds, three digits of their
 * fraction, a blank
 */
const [hour, whole] = [13, 24]
/** Milliseconds in a quarter of an hour; zones change their offset only on these */
const quarter = 900_000
const dated = /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[.,]\d{3} $/
/** Positions of the digits after the hour */
const digits = [14, 15, 17, 18, 20, 21, 22]
const [blank, colon, bar, escape, capitalF] = [0x20, 0x3a, 0x7c, 0x1b, 0x46]

const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39
const isLetter = (byte: number): boolean => (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a
/** True for a byte of a container's name */
const isOfName = (byte: number): boolean =>
  isLetter(byte) || isDigit(byte) || byte === 0x5f || byte === 0x2e || byte === 0x2d

export function quickHead(bytes: Uint8Array): QuickHead {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const known = new Uint8Array(hour)
  /**
   * When the learned hour began, as if all of it were like the known quarter, and that quarter from 0; null if none is
   * known
   */
  let began: number | null = null
  let which = 0

  /** Returns milliseconds since the hour; -1 if there is something else. */
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
      // three letters may be the name of a month, before a date
      if (bytes[at] === blank && at - lineStart === 3) return false
      while (at < end && bytes[at] === blank) at += 1
      return at < end && bytes[at] !== bar && bytes[at] !== escape
    },
  }
}
