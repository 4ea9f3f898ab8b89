import { readSync } from 'node:fs'
import { finders } from './engine.ts'
import { partedFile } from './parts-of-file.ts'
import { openBlockScan } from './scanner.ts'
import type { ScanOptions } from './scanner.ts'
import type { Tally } from './tally.ts'

/** A file that several threads scan: plain data, but for the number of the part that nobody has taken yet. */
export interface SharedScan {
  /** open, and stays so */
  descriptor: number
  /** bytes of the file, and of a part of it */
  size: number
  partLength: number
  next: Int32Array<SharedArrayBuffer>
  options: Omit<ScanOptions, 'finders'>
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
  const file = partedFile(descriptor, size, partLength, options.timeZone)
  const ours = finders()
  for (let index = Atomics.add(next, 0, 1); index < file.count; index = Atomics.add(next, 0, 1)) {
    const { from, to } = file.part(index)
    const scan = openBlockScan({ ...options, finders: ours }, { isRecord: index > 0, isInner: to !== Infinity })
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
