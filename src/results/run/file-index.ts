import { nameAt } from '../read/name-blocks.ts'
import type { NameBlock } from '../read/name-blocks.ts'
import type { FileName } from '../read/file-name.ts'

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
