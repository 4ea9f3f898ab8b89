import { signatures } from '../../knowledge/signatures.ts'
import { furthest, readers, sought, table } from './needles.ts'
import plain from './native/plain.as'
import simd from './native/simd.as'
import { backwardMs, kept, mostNumbered, mostStretches } from './tally.ts'
import type { Rate } from './tally.ts'
import { told } from './sample.ts'

/** How the search is compiled: with SIMD, or for processors without; both give the same answers. */
export type Engine = 'simd' | 'plain'

/** What native/plain.as exports and is used here. Addresses count from the beginning of its memory. */
interface Exports {
  readonly memory: WebAssembly.Memory
  setBlock(at: number): void
  prepare(hits: number, longest: number, factor: number): void
  want(since: number, until: number, backwardMs: number): void
  begin(): void
  forget(): void
  find(from: number, to: number, end: number): number
  newlines(from: number, to: number): number
  lineBefore(from: number, to: number): number
  findLines(stop: number, origin: number, start: number, until: number, line: number): void
  rewind(): void
  tally(to: number, stop: number, from: number, lines: number, finds: boolean): number
  enter(start: number, end: number): number
  pass(to: number): number
  answer(begins: boolean, at: number): void
  setRecord(at: number, timed: number, seen: number, before: number): void
  setKnown(at: number): void
  timeOf(at: number, end: number): number
  goesOn(at: number, end: number): number
  learn(at: number, time: number): number
  addKind(index: number, length: number): number
  forgetTexts(): void
  keepText(reader: number, at: number, end: number, name: number): void
  countName(reader: number, name: number): number
  namesOf(reader: number): number
  takeRepeats(reader: number, name: number): number
  clear(index: number): void
}
/** Its global variables and constants */
type Globals = Readonly<
  Record<
    | 'hasZero'
    | 'doubtful'
    | 'next'
    | 'unread'
    | 'record'
    | 'recordTimed'
    | 'seen'
    | 'known'
    | 'backwardSteps'
    | 'firstHit'
    | 'lastHit'
    | 'earliest'
    | 'latest'
    | 'grams'
    | 'others'
    | 'distances'
    | 'firstEntries'
    | 'entries'
    | 'needles'
    | 'texts'
    | 'signatures'
    | 'rates'
    | 'rateSize'
    | 'maxNeedles'
    | 'maxSignatures'
    | 'maxEntries'
    | 'maxStretches'
    | 'maxTexts'
    | 'maxSamples'
    | 'maxKind'
    | 'mostReaders'
    | 'mostNames'
    | 'slotText'
    | 'tableSize'
    | 'ignoresCase'
    | 'isRead'
    | 'isPart',
    { readonly value: number }
  >
>

/** What is left for the caller to do before hits are counted on. */
export const needs = { nothing: 0, head: 1, sample: 2, text: 3 } as const

/** A hit, and the bytes [start, end) of its line; a line that begins before the bytes has a start of -1. */
export interface HitInLine {
  readonly at: number
  readonly needle: number
  readonly start: number
  readonly end: number
}

/** What was counted of a signature; see Cause. */
export interface Counts {
  readonly count: number
  readonly untimed: number
  readonly records: number
  readonly firstLine: number
  /** Milliseconds since 1970; infinite if no record had a time */
  readonly first: number
  readonly last: number
  readonly rate: Rate
}

/**
 * What is done for each byte and each hit of a log, in WebAssembly: it is as fast from the first byte on as later.
 * Places count from the beginning of `bytes`. Where a line or a text has to be read, it asks its caller.
 */
export type Native = ReturnType<typeof openNative>

/** True if this machine's processor has what SIMD needs: V8 requires SSE4.1. */
export function hasSimd(): boolean {
  return WebAssembly.validate(simd)
}

type Six = [number, number, number, number, number, number]

/** Bytes that are read from a match on, if they are in its line */
export const readLength = 1024

/** Bytes of a page of memory, and those that are read past a block */
const [page, past] = [65_536, 128]
/** Numbers of 32 and of 64 bits in a hit (native/layout.as), and bytes of a row of a signature */
const [hitNumbers, hitSize, rowSize] = [8, 32, 64]

/** Opens a search in blocks of `size` bytes. Throws RangeError if there are more needles than it has room for. */
export function openNative(size: number, engine: Engine) {
  const code = engine === 'simd' ? simd : plain
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(code), {})
  const call = exports as Exports
  const globals = exports as Globals
  const base = call.memory.buffer.byteLength
  const hitsAt = Math.ceil((base + size + past) / page) * page
  // as many hits as bytes: no needle begins with another one (needles.ts)
  call.memory.grow(Math.ceil((hitsAt + size * hitSize - base) / page))
  const { buffer } = call.memory
  const bytes = new Uint8Array(buffer, base, size)
  const hits = new Int32Array(buffer, hitsAt, size * hitNumbers)
  fillTables(buffer, globals)
  call.setBlock(base)
  call.prepare(hitsAt, furthest, table.factor)

  const hit = (index: number): HitInLine => ({
    at: hits[index * hitNumbers]! - base,
    needle: hits[index * hitNumbers + 1]!,
    start: hits[index * hitNumbers + 2]! - base,
    end: hits[index * hitNumbers + 3]! - base,
  })
  const rateOf = (index: number, stretches: number): Rate => {
    const at = globals.rates.value + index * globals.rateSize.value
    const width = new Float64Array(buffer, at, 1)[0]!
    const counts = at + 8 * (2 + globals.maxStretches.value)
    return {
      width,
      starts: new Float64Array(buffer, at + 8, stretches).map((it) => it * width),
      counts: new Float64Array(buffer, counts, stretches).slice(),
    }
  }
  return {
    engine,
    bytes,
    /** Forgets all of what was searched before; counts only records from `since` on and before `until` */
    begin(since: number, until: number): void {
      call.want(since, until, backwardMs)
      call.begin()
      call.forget()
      call.forgetTexts()
    },
    /** Finds the needles that begin in [from, to) and end before `end`, in order */
    find(from: number, to: number, end: number): { count: number; lines: number; hasZero: boolean } {
      const count = call.find(base + from, base + to, base + end)
      const lines = call.newlines(base + from, base + to)
      return { count, lines, hasZero: globals.hasZero.value === 1 }
    },
    /**
     * Finds the lines of what was found, up to `stop`. Hits before `until` are in a line that began in the stream at
     * `line`; `origin` bytes of the stream are before ours
     */
    findLines(stop: number, origin: number, until = 0, line = -1): void {
      call.findLines(base + stop, origin - base, base + Math.max(line - origin, -1), base + until, line)
    },
    hit,
    /** How many of the needles that were found show no match by themselves */
    doubtful: (): number => globals.doubtful.value,
    needle: (index: number): number => hits[index * hitNumbers + 1]!,
    drop(index: number): void {
      hits[index * hitNumbers + 1] = -1
    },
    rewind: () => call.rewind(),
    next: (): number => globals.next.value,
    /** Counts hits before the one with the index `to`; the number of what is needed (`needs`) */
    tally: (to: number, stop: number, from: number, lines: number, finds: boolean): number =>
      call.tally(to, base + stop, base + from, lines, finds),
    /**
     * Keeps the text [at, end) of a signature, which was read in the record and counts the name with that number there
     * (below 0: it counts nothing): where the same text is found again, `tally` counts it by itself.
     */
    keepText: (index: number, at: number, end: number, name: number): void =>
      call.keepText(readerOf(index), base + at, base + end, name),
    /** Notes that the name with that number was counted in the record */
    noteName: (index: number, name: number): void => void call.countName(readerOf(index), name),
    /** Returns the names that were counted in the record, a bit each, by `keepText` and since then */
    namesOf: (index: number): number => call.namesOf(readerOf(index)),
    /** Returns how often `tally` has counted a name by itself since this was called last */
    takeRepeats: (index: number, name: number): number => call.takeRepeats(readerOf(index), name),
    addKind(index: number, kind: string): void {
      Buffer.from(buffer).write(kind, call.addKind(index, kind.length), 'latin1')
    },
    /** Returns what was counted of a signature since this was called last; null if nothing was */
    take(index: number): Counts | null {
      const row = globals.signatures.value + index * rowSize
      const [count, untimed, records, firstLine, first, last] = [...new Float64Array(buffer, row, 6)] as Six
      if (count === 0) return null
      const stretches = new Int32Array(buffer, row + 60, 1)[0]!
      const taken = { count, untimed, records, firstLine, first, last, rate: rateOf(index, stretches) }
      call.clear(index)
      return taken
    },
    /** Goes to the record of the line that begins at `start`; false if the line at `unread` has to be read before */
    enter: (start: number, end: number): boolean => call.enter(base + start, base + end) === 1,
    pass: (to: number): boolean => call.pass(base + to) === 1,
    unread: (): number => globals.unread.value - base,
    answer: (begins: boolean, at: number | null): void => call.answer(begins, at ?? NaN),
    /** Sets the record; `before` is the time of the last record with a hit before it */
    setRecord: (at: number | null, timed: number | null, seen: number, before: number | null): void =>
      call.setRecord(at ?? NaN, timed ?? NaN, seen, before ?? NaN),
    /** The record: a number of its own, the time that counts for it, and the signatures found in it, a bit each */
    record: () => ({
      id: globals.record.value,
      timed: numberOrNull(globals.recordTimed.value),
      seen: globals.seen.value,
    }),
    known: (): number => globals.known.value - base,
    setKnown: (at: number): void => call.setKnown(base + Math.max(at, 0)),
    /** Returns the time of a line that is dated like the learned one, in the same quarter of an hour; else null */
    timeOf: (at: number, end: number): number | null => numberOrNull(call.timeOf(base + at, base + end)),
    goesOn: (at: number, end: number): boolean => call.goesOn(base + at, base + end) === 1,
    /** Learns the time of a line, if its date is in the usual form */
    learn: (at: number, time: number): boolean => call.learn(base + at, time) === 1,
    lineBefore(from: number, to: number): number {
      const at = call.lineBefore(base + from, base + to)
      return at < 0 ? -1 : at - base
    },
    times: () => ({
      backwardSteps: globals.backwardSteps.value,
      firstHit: numberOrNull(globals.firstHit.value),
      lastHit: numberOrNull(globals.lastHit.value),
      earliest: numberOrNull(globals.earliest.value),
      latest: numberOrNull(globals.latest.value),
    }),
  }
}

function readerOf(index: number): number {
  return readers.indexOf(signatures[index]!.id)
}

function numberOrNull(value: number): number | null {
  return Number.isFinite(value) ? value : null
}

/** Throws RangeError if the tables have no room for all needles, or keep other numbers of things than the rest. */
function assertRoom(globals: Globals): void {
  const { maxEntries, maxNeedles, maxSignatures, maxTexts, maxSamples, maxKind, maxStretches } = globals
  const { mostReaders, slotText, mostNames } = globals
  if (
    table.places.length !== globals.tableSize.value ||
    table.places.flat().length > maxEntries.value ||
    sought.length > maxNeedles.value ||
    signatures.length > maxSignatures.value ||
    sought.reduce((sum, { text }) => sum + text.length, 0) > maxTexts.value ||
    furthest > past ||
    kept.samples > maxSamples.value ||
    told > maxKind.value ||
    readers.length > mostReaders.value ||
    readLength !== slotText.value ||
    mostNumbered !== mostNames.value ||
    mostStretches !== maxStretches.value
  )
    throw new RangeError(
      `the log search has no room for ${sought.length} search texts from ${signatures.length} signatures`,
    )
}

function fillTables(buffer: ArrayBuffer, globals: Globals): void {
  assertRoom(globals)
  const view = new DataView(buffer)
  const all = new Uint8Array(buffer)
  for (const name of ['grams', 'others', 'distances'] as const)
    all.set(new Uint8Array(table[name].buffer), globals[name].value)
  let entry = 0
  table.places.forEach((having, place) => {
    view.setUint16(globals.firstEntries.value + place * 2, entry, true)
    for (const { needle, offset } of having) {
      view.setUint16(globals.entries.value + entry * 4, sought.indexOf(needle), true)
      view.setUint16(globals.entries.value + entry * 4 + 2, offset, true)
      entry += 1
    }
  })
  view.setUint16(globals.firstEntries.value + table.places.length * 2, entry, true)
  let text = 0
  sought.forEach((needle, index) => {
    const row = globals.needles.value + index * 8
    view.setUint16(row, text, true)
    view.setUint8(row + 2, needle.text.length)
    const flags = [needle.ignoreCase && 'ignoresCase', needle.reads && 'isRead', !needle.isWhole && 'isPart'] as const
    view.setUint8(
      row + 3,
      flags.reduce((sum, name) => sum + (name ? globals[name].value : 0), 0),
    )
    view.setUint8(row + 4, needle.index)
    if (needle.reads) view.setUint8(row + 5, readerOf(needle.index))
    text += Buffer.from(buffer).write(needle.text, globals.texts.value + text, 'latin1')
  })
}
