import type { Finder } from './finder.ts'
import { headLength, lineHeadReader } from './line-head.ts'
import type { LineHead } from './line-head.ts'
import { quickHead } from './quick-head.ts'

/** A record; not all of its lines need have been read. */
export interface OpenRecord {
  /** Milliseconds since 1970; null if it has no readable date */
  readonly at: number | null
  /** Its own time, else that of the last record before it that has one */
  readonly timed: number | null
  /** The container or program that wrote it; '' if the stream does not say */
  readonly key: string
  /** What was found in it so far, for use by the caller: signatures, a bit each, and host names */
  seen: number
  hosts: Set<string> | null
}

export interface RecordFinder {
  /** Returns the record of the line that begins there; lines must be asked for in order */
  of(lineStart: number, end: number): OpenRecord
  /** Passes all lines that begin before `to` */
  pass(to: number): void
  /** Skips to `to`, before which no further line begins */
  skip(to: number): void
  /** Adapts to bytes that have moved towards the beginning */
  moved(by: number): void
  /** Returns the earliest and latest time among the records that were walked over, and the time of the last one */
  times(): { earliest: number | null; latest: number | null; end: number | null; isDated: boolean }
}

/** Bytes at the start of a stream whose lines show if it has prefixes. */
export const prefixesWithin = 65_536
/** Maximum number of containers or programs told apart in one stream */
const maxKeys = 1000

const opened = (key: string, at: number | null, timed: number | null): OpenRecord => ({
  at,
  timed,
  key,
  seen: 0,
  hosts: null,
})

/**
 * Finds the record of a line, in bytes that become known in parts. If prefixes or missing dates require it, reads each
 * line; else only those from a requested line back to the head of its record. `isRecord` is true for a part of a file:
 * it begins with a dated record, and has no prefixes.
 */
export function recordFinder(finder: Finder, timeZone: string | null, isRecord: boolean): RecordFinder {
  const { bytes } = finder
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const readHead = lineHeadReader(timeZone)
  const quick = quickHead(bytes)
  const open = new Map<string, { record: OpenRecord; isDated: boolean }>()
  let isKeyed = false
  let last = { record: opened('', null, null), isDated: isRecord }
  /** All lines that begin before `known` are passed; `origin` counts what was moved away before that */
  let known = 0
  let origin = isRecord ? prefixesWithin : 0
  let earliest: number | null = null
  let latest: number | null = null
  let anyDated = isRecord

  const headAt = (from: number, end: number): LineHead => {
    const known = quick.of(from, end)
    if (known) return known
    const newline = text.indexOf(10, from)
    const to = Math.min(newline < 0 ? end : newline, end, from + headLength)
    const head = readHead(text.toString('latin1', from, to > from && bytes[to - 1] === 13 ? to - 1 : to))
    quick.learn(from, head)
    return head
  }
  const mustWalk = (): boolean => isKeyed || !last.isDated || origin + known < prefixesWithin

  const walkOver = (from: number, end: number): void => {
    const head = headAt(from, end)
    const key = head.key !== '' && (head.isKeySure || open.has(head.key)) ? head.key : ''
    if (key !== '') isKeyed = true
    const before = open.get(key)
    const begins = head.begins || !before || (!before.isDated && head.looksFirst)
    last = begins
      ? {
          record: opened(key, head.at, head.at ?? before?.record.timed ?? null),
          isDated: before?.isDated || head.isDated,
        }
      : before
    anyDated ||= head.isDated || head.at !== null
    open.set(key, last)
    if (open.size > maxKeys) open.delete(open.keys().next().value!)
    if (begins && head.at !== null) {
      earliest = Math.min(earliest ?? head.at, head.at)
      latest = Math.max(latest ?? head.at, head.at)
    }
  }

  /** Reads from a line back to the first one that begins a record, and on to one with a time. */
  const lookBack = (lineStart: number, end: number): void => {
    let head: LineHead | null = null
    let timed: number | null = null
    // skips the lines of stack traces, which are by far most of those that begin no record
    for (
      let from = finder.lineBefore(known, lineStart + 1);
      from >= 0 && timed === null;
      from = finder.lineBefore(known, from)
    ) {
      const it = quick.goesOn(from, end) ? null : headAt(from, end)
      if (!it?.begins) continue
      head ??= it
      timed = it.at
    }
    if (head) last = { record: opened('', head.at, timed ?? last.record.timed), isDated: true }
  }

  const goTo = (lineStart: number, end: number): void => {
    while (known <= lineStart && mustWalk()) {
      walkOver(known, end)
      const newline = text.indexOf(10, known)
      known = newline < 0 || newline >= end ? end : newline + 1
      if (known === end) return
    }
    if (known > lineStart) return
    lookBack(lineStart, end)
    known = lineStart + 1
  }
  return {
    of(lineStart, end) {
      goTo(lineStart, end)
      return last.record
    },
    pass(to) {
      if (to <= known) return
      // the last line that begins before `to`
      const newline = to < 2 ? -1 : text.lastIndexOf(10, to - 2)
      goTo(newline + 1, to)
      known = to
    },
    skip(to) {
      known = Math.max(known, to)
    },
    moved(by) {
      known -= by
      origin += by
    },
    times: () => ({ earliest, latest, end: last.record.timed, isDated: anyDated }),
  }
}
