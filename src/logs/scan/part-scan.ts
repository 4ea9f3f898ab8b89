import { readSync } from 'node:fs'
import type { FilePart } from './parts-of-file.ts'
import { openBlockScan } from './scanner.ts'
import type { ScanOptions } from './scanner.ts'
import type { Tally } from './tally.ts'

/** What a thread is given. */
export interface PartToScan {
  /** open, and stays so */
  descriptor: number
  part: FilePart
  options: ScanOptions
}

/** Scans a part of a file, a block at each step, after which it may be ended: then lines that are complete are counted. Throws what reading throws. */
export function* scanPart({ descriptor, part: { from, to }, options }: PartToScan): Generator<undefined, Tally, boolean> {
  const scan = openBlockScan(options, { isRecord: from > 0, isInner: to !== Infinity })
  for (let at = from; at < to; ) {
    const space = scan.space()
    const length = readSync(descriptor, space, 0, Math.min(space.length, to - at), at)
    if (length === 0) break
    scan.filled(length)
    at += length
    if (yield) return scan.tally()
  }
  return scan.end()
}
