import { signatures } from '../../knowledge/signatures.ts'
import { causeCounter } from './cause-counter.ts'
import { finders as freshFinders } from './engine.ts'
import type { Engine, Finders } from './engine.ts'
import type { Hit } from './finder.ts'
import type { Keeper } from './keeper.ts'
import { recordFinder } from './record-finder.ts'
import type { OpenRecord } from './record-finder.ts'
import { isOfKind, kindAt } from './sample.ts'
import type { Sample } from './sample.ts'
import { backwardMs } from './tally.ts'
import type { Tally } from './tally.ts'

export interface ScanOptions {
  /** Time zone of times without an offset; if null, they stay unknown */
  timeZone: string | null
  /** Only records from then on; one without a time goes with the one before it */
  since?: Date | undefined
  /** Only records before then */
  until?: Date | undefined
  /** Omitted for the fastest one on this machine */
  engine?: Engine | undefined
  /** Omitted for finders of its own */
  finders?: Finders | undefined
}

/** A stream that is being scanned. */
export interface Scan {
  /** Takes the next bytes, however the stream is cut; the caller may reuse them afterwards */
  write(chunk: Uint8Array): void
  /** Returns what was found in all lines that are complete so far */
  tally(): Tally
  /** Ends the stream and its last line, and returns the tally; no other call may follow */
  end(): Tally
}

/** A scan whose next bytes can be put right into its memory. */
export interface BlockScan extends Scan {
  /** Returns where the next bytes go; never empty */
  space(): Uint8Array<ArrayBuffer>
  /** Reports how many bytes were put there */
  filled(length: number): void
}

/** Bytes searched at once: they stay in the processor's cache */
const blockSize = 1 << 19
/** Bytes of a line above which it is searched in pieces */
const longLine = 1 << 16
/** Bytes read on each side of a match; longer than any pattern, and than anything read of a match */
const around = 1024
const [newline, carriageReturn] = [10, 13]
/** A word in UTF-16, in either order of its bytes; zeros alone are what a crash leaves behind */
const wide = /(?:[\t\n\r -~]\0){8}/

/** Scans one stream of log text in bounded memory, however long it or its lines are. */
export function openScan(options: ScanOptions): Scan {
  return openBlockScan(options)
}

/**
 * Like `openScan`, for a part of a stream: with `isRecord`, it begins with a dated record; with `isInner`, it does not
 * end with the stream.
 */
export function openBlockScan(
  { timeZone, since, until, engine, finders = freshFinders() }: ScanOptions,
  { isRecord = false, isInner = false }: { isRecord?: boolean; isInner?: boolean } = {},
): BlockScan {
  const finder = finders.take(engine, blockSize + longLine + 4 * around)
  const { bytes } = finder
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const records = recordFinder(finder, timeZone, isRecord)
  // for each signature: its counter, and where its last line begins in the stream
  const counters = signatures.map(({ id }) => causeCounter(id))
  const lastLines = new Float64Array(signatures.length).fill(-1)
  const lastTimes = new Map<string, number>()
  /** Bytes of the stream before ours, of ours that are filled, and of ours that are done */
  let [origin, filled, done] = [0, 0, 0]
  let lines = 0
  let wideAt: number | null = null
  /** Start of the line that is searched in pieces, which may be before our bytes, and its record */
  let long: { start: number; record: OpenRecord } | null = null
  let [backwardSteps, firstHit, lastHit, earliest, latest]: [
    number,
    number | null,
    number | null,
    number | null,
    number | null,
  ] = [0, null, null, null, null]

  const isWanted = ({ timed }: OpenRecord): boolean =>
    timed === null || ((!since || timed >= since.getTime()) && (!until || timed < until.getTime()))

  const noteTime = ({ at, key }: OpenRecord): void => {
    if (at === null) return
    const before = lastTimes.get(key)
    if (before !== undefined && at < before - backwardMs) backwardSteps += 1
    if (lastTimes.size >= 1000) lastTimes.clear()
    lastTimes.set(key, at)
    firstHit ??= at
    lastHit = at
    earliest = Math.min(earliest ?? at, at)
    latest = Math.max(latest ?? at, at)
  }

  const sampleAt = (at: number, start: number, end: number, isKept: Keeper<Sample>['some']): Sample | null => {
    if (isKept((kind) => isOfKind(bytes, at, end, kind))) return null
    const [left, right] = [Math.max(start, at - around, 0), Math.min(end, at + around)]
    return {
      kind: kindAt(text, at, end),
      before: text.toString('utf8', left, at),
      after: text.toString('utf8', at, right),
      isStart: left === start,
      isEnd: right === end,
    }
  }

  /**
   * Counts a needle in a line whose bytes [start, end) are present. The rest of the line is further away than anything
   * that is read of a match.
   */
  const found = ({ at, needle }: Hit, start: number, end: number, record: OpenRecord, from: number): void => {
    const left = Math.max(start, at - around, 0)
    const right = Math.min(end, at + around)
    const { index, isWhole } = needle
    if (!isWhole && !signatures[index]!.pattern.test(text.toString('latin1', left, right))) return
    if (!isWanted(record)) return
    if (record.seen === 0) noteTime(record)
    const counter = counters[index]!
    if (lastLines[index] !== origin + start) {
      lastLines[index] = origin + start
      if (counter.line(record, counter.isFirst() ? lines + newlinesIn(from, at) + 1 : 0)) {
        const sample = sampleAt(at, start, end, counter.isKept)
        if (sample) counter.sample(sample)
      }
    }
    if (counter.reads) counter.place(record, text.toString('utf8', isWhole ? at : left, right))
  }

  const lineEnd = (at: number, end: number): number => {
    const to = text.indexOf(newline, at)
    const stop = to < 0 || to >= end ? end : to
    return stop > at && bytes[stop - 1] === carriageReturn ? stop - 1 : stop
  }

  const newlinesIn = (from: number, to: number): number => {
    let count = 0
    for (let at = text.indexOf(newline, from); at >= 0 && at < to; at = text.indexOf(newline, at + 1)) count += 1
    return count
  }

  const lookForWide = (from: number, to: number): void => {
    const at = text.toString('latin1', from, to).search(wide)
    if (at >= 0) wideAt ??= origin + from + at
  }

  /** Scans lines that are present as a whole, up to `stop`. Of the first one, what is before `from` may be done. */
  const scanLines = (from: number, stop: number): void => {
    const { hits, lines: ended, hasZero } = finder.find(from, stop, stop)
    if (hasZero && wideAt === null) lookForWide(from, stop)
    let [start, end] = [-1, -1]
    let record: OpenRecord | null = null
    if (long) {
      ;({ start, record } = long)
      end = lineEnd(from, stop)
      const over = text.indexOf(newline, from)
      records.skip(over < 0 || over >= stop ? stop : over + 1)
    }
    for (const hit of hits) {
      if (hit.at >= end || record === null) {
        start = text.lastIndexOf(newline, hit.at) + 1
        end = lineEnd(hit.at, stop)
        record = records.of(start, stop)
      }
      found(hit, start, end, record, from)
    }
    long = null
    records.pass(stop)
    lines += ended
  }

  const scanPiece = (from: number, to: number): void => {
    long ??= { start: from, record: records.of(from, filled) }
    const { start, record } = long
    const { hits, hasZero } = finder.find(from, to, filled)
    if (hasZero && wideAt === null) lookForWide(from, to)
    for (const hit of hits) found(hit, start, filled, record, hit.at)
  }

  /** Makes room: drops what is done, unless it is near what comes. */
  const drop = (upTo: number): void => {
    if (upTo <= 0) return
    text.copyWithin(0, upTo, filled)
    filled -= upTo
    done -= upTo
    origin += upTo
    records.moved(upTo)
    if (long) long.start -= upTo
  }

  const advance = (): void => {
    const last = text.subarray(done, filled).lastIndexOf(newline)
    if (last >= 0) {
      const stop = done + last + 1
      scanLines(done, stop)
      done = stop
      drop(stop)
    }
    if (filled - done > longLine) {
      const to = filled - around
      scanPiece(done, to)
      done = to
      drop(done - around)
    }
  }

  const result = (isOver: boolean): Tally => {
    const times = records.times()
    const time = (values: readonly (number | null)[], choose: (...all: number[]) => number): Date | null => {
      const known = values.filter((it) => it !== null)
      return known.length === 0 ? null : new Date(choose(...known))
    }
    const all = lines + (isOver && filled > done ? 1 : 0)
    return {
      bytes: origin + filled,
      lines: all,
      wideAt,
      from: time([times.earliest, earliest], Math.min),
      to: time([times.latest, latest, isInner ? null : times.end], Math.max),
      datesUnknown: all > 0 && !times.isDated,
      backward: { steps: backwardSteps, first: time([firstHit], Math.min), last: time([lastHit], Math.min) },
      causes: counters.flatMap((it) => it.cause() ?? []),
    }
  }

  const space = (): Uint8Array<ArrayBuffer> => bytes.subarray(filled)
  const take = (length: number): void => {
    filled += length
    advance()
  }
  return {
    space,
    filled: take,
    write(chunk) {
      for (let from = 0; from < chunk.length; ) {
        const part = chunk.subarray(from, from + space().length)
        bytes.set(part, filled)
        take(part.length)
        from += part.length
      }
    },
    tally: () => result(false),
    end() {
      if (filled > done) scanLines(done, filled)
      finders.give(finder)
      return result(true)
    },
  }
}
