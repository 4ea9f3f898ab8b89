import { setImmediate as immediately } from 'node:timers/promises'
import type { Numbers } from '../index/numbers.ts'
import { numbers } from '../index/numbers.ts'
import { entryKind } from '../read/inside.ts'
import type { Listing, Nested } from '../read/list.ts'
import type { FileName, NameBlock } from '../read/name-blocks.ts'
import { nameAt, pathOf, shownName } from '../read/name-blocks.ts'
import { readAtOnce, readingSpace } from '../read/read-file.ts'
import type { ResultFile } from '../result-file.ts'
import { shapeFaults } from '../rules/index.ts'

/** Data collected from one directory. `Numbers` hold hashes, or numbers of files in the index. */
export interface Gathered {
  listing: Listing
  nested: Nested
  /** the index's numbers of its first result, container and attachment */
  firstResult: number
  firstContainer: number
  firstAttachment: number
  bytes: number
  sources: Numbers
  sourceOwners: Numbers
  bases: Numbers
  isPartly: boolean
}

export function gather(listing: Listing, nested: Nested, files: FileIndex): Gathered {
  const { directory, results, resultCount, containers, containerCount, attachments, attachmentHashes } = listing
  return {
    listing,
    nested,
    firstResult: files.add(directory, results, resultCount),
    firstContainer: files.add(directory, containers, containerCount),
    firstAttachment: files.add(directory, attachments, attachmentHashes.length),
    bytes: 0,
    sources: numbers(),
    sourceOwners: numbers(),
    bases: numbers(),
    // a file that was not opened may name any of them
    isPartly:
      listing.specialCount > listing.special.length ||
      listing.special.some(({ file }) => ['result', 'container'].includes(entryKind(file))),
  }
}

/** Parameters of all results of a run: for each, hashes of its key and of key and value, and its file's number. */
export interface RunParameters {
  keys: Numbers
  values: Numbers
  owners: Numbers
}

export function runParameters(): RunParameters {
  return { keys: numbers(), values: numbers(), owners: numbers() }
}

/** Numbers the files of several directories one after the other. */
export interface FileIndex {
  readonly length: number
  /** adds files; returns the number of the first one */
  add(directory: string, blocks: readonly NameBlock[], count: number): number
  at(index: number): { directory: string; name: FileName }
}

export function fileIndex(): FileIndex {
  const spans: { directory: string; blocks: readonly NameBlock[]; first: number }[] = []
  let length = 0
  return {
    get length() {
      return length
    },
    add(directory, blocks, count) {
      const first = length
      spans.push({ directory, blocks, first })
      length += count
      return first
    },
    at(index) {
      const { directory, blocks, first } = spans.findLast((it) => it.first <= index)!
      return { directory, name: nameAt(blocks, index - first) }
    },
  }
}

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
