import type { FileHandle } from 'node:fs/promises'
import { lineHeadReader } from './line-head.ts'
import { prefixesWithin } from './record-finder.ts'

/** A part of a file that can be scanned by itself: the bytes in [from, to). */
export interface FilePart {
  readonly from: number
  /** Infinity: to the end of the file, wherever that is by then */
  readonly to: number
}

/** so much is looked at for the beginning of a record: most are near, some have a long stack before them */
const searched = [1 << 14, 1 << 20]

/**
 * About as many parts of equal size, the first one by `lead` bytes larger, of which each but the first begins with a record. One alone where records may reach from
 * anywhere to anywhere: several containers wrote into the file, or there are no dates.
 */
export async function partsOfFile(file: FileHandle, size: number, count: number, timeZone: string | null, lead = 0): Promise<FilePart[]> {
  const headOf = lineHeadReader(timeZone)
  const linesAt = async (position: number, length: number): Promise<string[]> => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position)
    return buffer.toString('latin1', 0, bytesRead).split('\n')
  }
  const first = (await linesAt(0, prefixesWithin)).map(headOf)
  if (first.some(({ key, isKeySure }) => key !== '' && isKeySure)) return [{ from: 0, to: Infinity }]
  const startNear = async (position: number): Promise<number | null> => {
    for (const length of searched) {
      const [partial, ...lines] = await linesAt(position, length)
      // the last one is cut
      const begins = lines.slice(0, -1).findIndex((line) => startsPart(headOf(line)))
      if (begins >= 0) return [partial!, ...lines.slice(0, begins)].reduce((sum, line) => sum + line.length + 1, position)
    }
    return null
  }
  const starts = [0]
  for (let index = 1; index < count; index += 1) {
    const start = await startNear(Math.floor(lead + ((size - lead) / count) * index))
    if (start !== null && start > starts.at(-1)!) starts.push(start)
  }
  return starts.map((from, index) => ({ from, to: starts[index + 1] ?? Infinity }))
}

function startsPart({ key, begins, at }: ReturnType<ReturnType<typeof lineHeadReader>>): boolean {
  return key === '' && begins && at !== null
}
