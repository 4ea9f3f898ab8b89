import { readSync } from 'node:fs'
import { lineHeadReader } from './line-head.ts'
import { prefixesWithin } from './record-finder.ts'
import type { ScanOptions } from './scanner.ts'
import { openBlockScan, keptSearches } from './scanner.ts'
import type { Tally } from './tally.ts'

/** A part of a file that can be scanned by itself: the bytes in [from, to). */
interface FilePart {
  readonly from: number
  /** Infinity for the end of the file, wherever that is when it is reached */
  readonly to: number
}

/** A file in parts that each begin with a record. All callers get the same parts. */
interface PartedFile {
  readonly count: number
  /** Returns a part by its number, from 0; empty if no record begins in it. Throws what reading throws */
  part(index: number): FilePart
}

/** Bytes searched for the beginning of a record: most are near, some come after a long stack trace */
const searched = [1 << 14, 1 << 20]

function textAt(descriptor: number, position: number, length: number): string {
  const bytes = Buffer.alloc(length)
  return bytes.toString('latin1', 0, readSync(descriptor, bytes, 0, length, position))
}

/**
 * True if the file can be split into parts. False if several containers wrote it or it has no dates, as records may
 * then be anywhere. Throws what reading throws.
 */
export function hasParts(descriptor: number, timeZone: string | null): boolean {
  const heads = textAt(descriptor, 0, prefixesWithin).split('\n').map(lineHeadReader(timeZone))
  return heads.some(startsPart) && !heads.some(({ key, isKeySure }) => key !== '' && isKeySure)
}

/** Returns how many parts of `length` bytes a file is split into; the last one may be longer. */
export function partsIn(size: number, length: number): number {
  return Math.max(1, Math.floor(size / length))
}

/** Splits an open file of `size` bytes into parts of about `length` bytes. */
export function partedFile(descriptor: number, size: number, length: number, timeZone: string | null): PartedFile {
  const headOf = lineHeadReader(timeZone)
  const count = partsIn(size, length)
  const startNear = (position: number): number | null => {
    for (const most of searched) {
      const [partial, ...lines] = textAt(descriptor, position, most).split('\n')
      // the last line is cut
      const begins = lines.slice(0, -1).findIndex((line) => startsPart(headOf(line)))
      if (begins >= 0)
        return [partial!, ...lines.slice(0, begins)].reduce((sum, line) => sum + line.length + 1, position)
    }
    return null
  }
  const known = new Map<number, number | null>([[0, 0]])
  const startOf = (index: number): number => {
    for (let next = index; next < count; next += 1) {
      const start = known.has(next) ? known.get(next)! : startNear(next * length)
      known.set(next, start)
      if (start !== null) return start
    }
    return Infinity
  }
  return { count, part: (index) => ({ from: startOf(index), to: startOf(index + 1) }) }
}

function startsPart({ key, begins, at }: ReturnType<ReturnType<typeof lineHeadReader>>): boolean {
  return key === '' && begins && at !== null
}

/** A file that several threads scan: plain data, but for the number of the part that nobody has taken yet. */
export interface SharedScan {
  /** open, and stays so */
  descriptor: number
  /** bytes of the file, and of a part of it */
  size: number
  partLength: number
  next: Int32Array<SharedArrayBuffer>
  options: Omit<ScanOptions, 'searches'>
}

/** What was found in one of the parts. */
export interface PartTally {
  index: number
  /** false: it was given up in the middle of it */
  isWhole: boolean
  tally: Tally
}

/**
 * Takes parts that nobody has taken, one after the other, until all are taken, and gives what was found in each;
 * nothing after each block. May be told after any of these to end: then lines that are complete are counted, and it is
 * over. Throws what reading throws.
 */
export function* scanParts({
  descriptor,
  size,
  partLength,
  next,
  options,
}: SharedScan): Generator<PartTally | undefined, void, boolean | undefined> {
  const ours = keptSearches()
  const file = partedFile(descriptor, size, partLength, options.timeZone)
  for (let index = Atomics.add(next, 0, 1); index < file.count; index = Atomics.add(next, 0, 1)) {
    const { from, to } = file.part(index)
    const scan = openBlockScan({ ...options, searches: ours }, { isRecord: index > 0, isInner: to !== Infinity })
    for (let at = from; at < to; ) {
      const space = scan.space()
      const length = readSync(descriptor, space, 0, Math.min(space.length, to - at), at)
      if (length === 0) break
      scan.filled(length)
      at += length
      if (yield) return void (yield { index, isWhole: false, tally: scan.tally() })
    }
    if (yield { index, isWhole: true, tally: scan.end() }) return
  }
}
