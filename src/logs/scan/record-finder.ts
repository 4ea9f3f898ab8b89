import { headLength, lineHeadReader } from './line-head.ts'
import type { LineHead } from './line-head.ts'
import type { Native } from './native.ts'

/** A record of a log in which each line is read; not all of its lines need have been. */
interface OpenRecord {
  /** Milliseconds since 1970; null if it has no readable date */
  readonly at: number | null
  /** Its own time, else that of the last record before it that has one */
  readonly timed: number | null
  /** The container or program that wrote it; '' if the stream does not say */
  readonly key: string
  /** What was found in it so far: signatures, a bit each, and host names */
  seen: number
  readonly hosts: Set<string>
}

/** Tells which record is counted in: sets it in the search, or lets the search find it. */
export interface RecordFinder {
  /** True if each line has to be read: `of` has to be called for each; else the search asks for what it needs */
  walks(): boolean
  /** Goes to the record of the line that begins there; lines must come in order */
  of(lineStart: number, end: number): void
  /** Notes what was found in the record that `of` went to */
  counted(): void
  /** Reads the line that the search asks for */
  readHead(end: number): void
  /** Returns the host names that were read in the record; the caller adds to them */
  hosts(): Set<string>
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
  hosts: new Set(),
})

/**
 * Finds the record of a line, in bytes that become known in parts. If prefixes or missing dates require it, reads each
 * line; else the search reads only those from a requested line back to the head of its record. `isRecord` is true for a
 * part of a file: it begins with a dated record, and has no prefixes. `handOver` gets the hosts that were counted in
 * the record in which the search takes over.
 */
export function recordFinder(
  native: Native,
  timeZone: string | null,
  { isRecord, handOver }: { isRecord: boolean; handOver: (hosts: ReadonlySet<string>) => void },
): RecordFinder {
  const { bytes } = native
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const readHead = lineHeadReader(timeZone)
  const open = new Map<string, { record: OpenRecord; isDated: boolean }>()
  /** For each container, the time of its last record with a hit */
  const lastTimes = new Map<string, number>()
  let isWalking = true
  let isKeyed = false
  let last = { record: opened('', null, null), isDated: isRecord }
  /** All lines that begin before `known` are passed; `origin` counts what was moved away before that */
  let known = 0
  let origin = isRecord ? prefixesWithin : 0
  let earliest: number | null = null
  let latest: number | null = null
  let anyDated = isRecord
  /** The host names of the record with that number in the search */
  let named = { id: -1, hosts: last.record.hosts }

  const headAt = (from: number, end: number): LineHead => {
    const time = native.timeOf(from, end)
    if (time !== null) return { key: '', isKeySure: true, begins: true, isDated: true, at: time, looksFirst: true }
    const newline = text.indexOf(10, from)
    const to = Math.min(newline < 0 ? end : newline, end, from + headLength)
    const head = readHead(text.toString('latin1', from, to > from && bytes[to - 1] === 13 ? to - 1 : to))
    if (head.at !== null) native.learn(from, head.at)
    return head
  }

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

  const tell = (): void => {
    const { at, timed, key, seen } = last.record
    native.setRecord(at, timed, seen, lastTimes.get(key) ?? null)
  }
  const walks = (): boolean => {
    if (!isWalking || isKeyed || !last.isDated || origin + known < prefixesWithin) return isWalking
    isWalking = false
    native.setKnown(known)
    tell()
    handOver(last.record.hosts)
    named = { id: native.record().id, hosts: last.record.hosts }
    return false
  }

  const answer = (end: number): void => {
    const { begins, at } = headAt(native.unread(), end)
    native.answer(begins, at)
  }
  const goTo = (lineStart: number, end: number): void => {
    while (known <= lineStart && walks()) {
      walkOver(known, end)
      const newline = text.indexOf(10, known)
      known = newline < 0 || newline >= end ? end : newline + 1
    }
    if (isWalking) tell()
    else while (!native.enter(lineStart, end)) answer(end)
  }
  return {
    walks,
    of: goTo,
    counted() {
      if (!isWalking) return
      const { at, key, seen: seenBefore } = last.record
      last.record.seen = native.record().seen
      if (at === null || seenBefore !== 0 || last.record.seen === 0) return
      if (lastTimes.size >= 1000) lastTimes.clear()
      lastTimes.set(key, at)
    },
    readHead: answer,
    hosts() {
      if (isWalking) return last.record.hosts
      const { id } = native.record()
      if (named.id !== id) named = { id, hosts: new Set() }
      return named.hosts
    },
    pass(to) {
      if (!isWalking) while (!native.pass(to)) answer(to)
      if (!isWalking || to <= known) return
      // the last line that begins before `to`
      const newline = to < 2 ? -1 : text.lastIndexOf(10, to - 2)
      goTo(newline + 1, to)
      known = to
      if (!isWalking) native.setKnown(to)
    },
    skip(to) {
      if (isWalking) known = Math.max(known, to)
      else native.setKnown(Math.max(native.known(), to))
    },
    moved(by) {
      origin += by
      // a line that is searched in pieces is passed, however far it goes on
      if (isWalking) known = Math.max(known - by, 0)
      else native.setKnown(native.known() - by)
    },
    times: () => ({
      earliest,
      latest,
      end: isWalking ? last.record.timed : native.record().timed,
      isDated: anyDated,
    }),
  }
}
