import { setImmediate as immediately } from 'node:timers/promises'
import { pathOf, shownName } from '../read/file-name.ts'
import { readAtOnce, readingSpace } from '../read/read-file.ts'
import type { ResultFile } from '../result-file.ts'
import { shapeFaults } from '../rules/index.ts'
import type { FileIndex } from './file-index.ts'

/** Number of files that are read before other work gets its turn. */
const beforeTurn = 200

/**
 * Reads files again, one at a time, by their numbers. Returns null for a file that has changed and is no longer valid.
 */
export interface SecondReading {
  result(index: number): Promise<ResultFile | null>
  /** reads a container, or any other JSON object */
  object(index: number): Promise<ResultFile | null>
}

export function secondReading(files: FileIndex, signal: AbortSignal | undefined): SecondReading {
  const space = readingSpace()
  let count = 0
  const read = async (index: number, isRight: (value: object) => boolean): Promise<ResultFile | null> => {
    count += 1
    if (count % beforeTurn === 0) await immediately()
    signal?.throwIfAborted()
    const { directory, name } = files.at(index)
    const found = readAtOnce(directory, pathOf(directory, name), space)
    if (found === null || typeof found.value !== 'object' || found.value === null || !isRight(found.value)) return null
    return { directory, file: shownName(name), bytes: found.bytes, content: found.value }
  }
  return {
    result: (index) => read(index, (value) => shapeFaults(value).length === 0),
    object: (index) => read(index, () => true),
  }
}
