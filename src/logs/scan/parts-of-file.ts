import { readSync } from 'node:fs'
import { lineHeadReader } from './line-head.ts'
import { prefixesWithin } from './record-finder.ts'

/** A part of a file that can be scanned by itself: the bytes in [from, to). */
interface FilePart {
  readonly from: number
  /** Infinity for the end of the file, wherever that is when it is reached */
  readonly to: number
}

/** A file in parts that each begin with a record. All callers get the same parts. */
export interface PartedFile {
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
