import { numbers } from '../index/numbers.ts'
import type { Numbers } from '../index/numbers.ts'
import { entryKind } from '../read/entry-kind.ts'
import type { Listing } from '../read/list.ts'
import type { Nested } from '../read/nested.ts'
import type { FileIndex } from './file-index.ts'

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
