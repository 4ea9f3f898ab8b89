import { signatures } from '../../knowledge/signatures.ts'
import { causeCounter } from './cause-counter.ts'
import { readers, sought } from './needles.ts'
import { needs, readLength, hasSimd, openNative } from './native.ts'
import type { Engine, HitInLine, Native } from './native.ts'
import { recordFinder } from './record-finder.ts'
import { kindAt } from './sample.ts'
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
  /** Omitted for a search of its own */
  searches?: Searches | undefined
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
const around = readLength
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
  { timeZone, since, until, engine, searches = keptSearches() }: ScanOptions,
  { isRecord = false, isInner = false }: { isRecord?: boolean; isInner?: boolean } = {},
): BlockScan {
  const native = searches.take(engine, blockSize + longLine + 4 * around)
  native.begin(since?.getTime() ?? -Infinity, until?.getTime() ?? Infinity)
  const { bytes } = native
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const counters = signatures.map(({ id }) => causeCounter(id))
  const handOver = (hosts: ReadonlySet<string>): void =>
    counters.forEach((counter, index) => {
      for (const number of counter.numbersOf(hosts)) native.noteName(index, number)
    })
  const records = recordFinder(native, timeZone, { isRecord, handOver })
  /** Bytes of the stream before ours, of ours that are filled, and of ours that are done */
  let [origin, filled, done] = [0, 0, 0]
  let lines = 0
  let wideAt: number | null = null
  /** Where in the stream the line begins that is searched in pieces */
  let long: number | null = null

  const addSample = ({ at, needle, start, end }: HitInLine): void => {
    const [left, right] = [Math.max(start, at - around, 0), Math.min(end, at + around)]
    const { index } = sought[needle]!
    const kind = kindAt(text, at, end)
    native.addKind(index, kind)
    counters[index]!.sample({
      kind,
      before: text.toString('utf8', left, at),
      after: text.toString('utf8', at, right),
      isStart: left === start,
      isEnd: right === end,
    })
  }

  const read = ({ at, needle, start, end }: HitInLine): void => {
    const { index, isWhole } = sought[needle]!
    const counter = counters[index]!
    const [from, to] = [isWhole ? at : Math.max(start, at - around, 0), Math.min(end, at + around)]
    const found = text.toString('utf8', from, to)
    const names = records.hosts()
    // hosts in texts that did not have to be read again
    counter.addNames(native.namesOf(index), names)
    counter.read(found, names)
    const number = isWhole ? counter.numberOf(found) : null
    if (number !== null) native.keepText(index, at, to, number)
  }

  /** Counts hits up to the one with the index `to`; `stop` and `from` as in `count`. */
  const countTo = (to: number, stop: number, from: number): void => {
    const finds = !records.walks()
    for (;;) {
      const need = native.tally(to, stop, from, lines, finds)
      if (need === needs.nothing) return
      if (need === needs.head) records.readHead(stop)
      else if (need === needs.sample) addSample(native.hit(native.next()))
      else read(native.hit(native.next()))
    }
  }

  /**
   * Counts what was found in lines whose bytes are present up to `stop`, from `from` on. The rest of a longer line is
   * further away than anything that is read of a match.
   */
  const count = (hits: number, stop: number, from: number): void => {
    for (let index = 0; native.doubtful() > 0 && index < hits; index += 1) {
      const { isWhole, index: signature } = sought[native.needle(index)]!
      if (isWhole) continue
      const { at, start, end } = native.hit(index)
      const near = text.toString('latin1', Math.max(start, at - around, 0), Math.min(end, at + around))
      if (!signatures[signature]!.pattern.test(near)) native.drop(index)
    }
    native.rewind()
    while (native.next() < hits && records.walks()) {
      const { start } = native.hit(native.next())
      let to = native.next() + 1
      while (to < hits && native.hit(to).start === start) to += 1
      records.of(start, stop)
      countTo(to, stop, from)
      records.counted()
    }
    if (native.next() < hits) countTo(hits, stop, from)
  }

  const lineEnd = (at: number, end: number): number => {
    const to = text.indexOf(newline, at)
    const stop = to < 0 || to >= end ? end : to
    return stop > at && bytes[stop - 1] === carriageReturn ? stop - 1 : stop
  }

  const lookForWide = (from: number, to: number): void => {
    const at = text.toString('latin1', from, to).search(wide)
    if (at >= 0) wideAt ??= origin + from + at
  }

  /** Scans lines that are present as a whole, up to `stop`. Of the first one, what is before `from` may be done. */
  const scanLines = (from: number, stop: number): void => {
    const { count: hits, lines: ended, hasZero } = native.find(from, stop, stop)
    if (hasZero && wideAt === null) lookForWide(from, stop)
    if (long === null) native.findLines(stop, origin)
    else {
      native.findLines(stop, origin, lineEnd(from, stop), long)
      const over = text.indexOf(newline, from)
      records.skip(over < 0 || over >= stop ? stop : over + 1)
    }
    count(hits, stop, from)
    long = null
    records.pass(stop)
    lines += ended
  }

  const scanPiece = (from: number, to: number): void => {
    if (long === null) {
      records.of(from, filled)
      long = origin + from
    }
    const { count: hits, hasZero } = native.find(from, to, filled)
    if (hasZero && wideAt === null) lookForWide(from, to)
    native.findLines(filled, origin, filled, long)
    count(hits, filled, filled)
  }

  /** Makes room: drops what is done, unless it is near what comes. */
  const drop = (upTo: number): void => {
    if (upTo <= 0) return
    text.copyWithin(0, upTo, filled)
    filled -= upTo
    done -= upTo
    origin += upTo
    records.moved(upTo)
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
    const hits = native.times()
    const time = (values: readonly (number | null)[], choose: (...all: number[]) => number): Date | null => {
      const known = values.filter((it) => it !== null)
      return known.length === 0 ? null : new Date(choose(...known))
    }
    const all = lines + (isOver && filled > done ? 1 : 0)
    counters.forEach((counter, index) => {
      const counts = native.take(index)
      if (counts) counter.add(counts)
      if (counts && readers.includes(signatures[index]!.id)) counter.addRepeats((it) => native.takeRepeats(index, it))
    })
    return {
      bytes: origin + filled,
      lines: all,
      wideAt,
      from: time([times.earliest, hits.earliest], Math.min),
      to: time([times.latest, hits.latest, isInner ? null : times.end], Math.max),
      datesUnknown: all > 0 && !times.isDated,
      backward: {
        steps: hits.backwardSteps,
        first: time([hits.firstHit], Math.min),
        last: time([hits.lastHit], Math.min),
      },
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
      const tally = result(true)
      searches.give(native)
      return tally
    },
  }
}

/** Searches for scans that follow one another. Each has a memory that is released late, so they are reused. */
export interface Searches {
  /** Returns a search in `size` bytes, compiled as told, else for this machine's processor */
  take(engine: Engine | undefined, size: number): Native
  /** Keeps a search for reuse, once nobody reads its bytes any more */
  give(native: Native): void
}

export function keptSearches(): Searches {
  const idle: Native[] = []
  let fastest: Engine | null = null
  return {
    take(wanted, size) {
      const engine = wanted ?? (fastest ??= hasSimd() ? 'simd' : 'plain')
      const at = idle.findIndex((it) => it.engine === engine && it.bytes.length === size)
      return at >= 0 ? idle.splice(at, 1)[0]! : openNative(size, engine)
    },
    give(native) {
      idle.push(native)
    },
  }
}
