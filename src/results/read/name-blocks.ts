import { Buffer, isUtf8 } from 'node:buffer'

/** A name in a directory; its bytes if they are not UTF-8. */
export type FileName = string | Buffer

export function fileNameOf(bytes: Buffer): FileName {
  return isUtf8(bytes) ? bytes.toString('utf8') : bytes
}

/** Returns the path that opens the file. */
export function pathOf(directory: string, name: FileName): string | Buffer {
  const folder = directory.endsWith('/') ? directory : `${directory}/`
  return typeof name === 'string' ? folder + name : Buffer.concat([Buffer.from(folder), name])
}

/** Returns the name as it is shown: bytes that are not UTF-8 as \xNN. */
export function shownName(name: FileName): string {
  if (typeof name === 'string') return name
  let shown = ''
  for (let at = 0; at < name.length; ) {
    const length = characterAt(name, at)
    shown += length === 0 ? `\\x${name[at]!.toString(16).padStart(2, '0')}` : name.toString('utf8', at, at + length)
    at += length || 1
  }
  return shown
}

/** Returns the number of bytes of the UTF-8 character at an index; 0 if there is none. */
export function characterAt(bytes: Uint8Array, at: number): number {
  const first = bytes[at]!
  if (first < 0x80) return 1
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2
  return isUtf8(bytes.subarray(at, at + length)) && at + length <= bytes.length ? length : 0
}

/** Number of names in each block but the last. */
export const namesOfBlock = 256

/**
 * A block of names, each ended by a NUL, which no name contains. A million names take little more than their letters.
 */
export interface NameBlock {
  readonly bytes: Uint8Array
  readonly count: number
  /** true if all characters are ASCII */
  readonly isAscii: boolean
}

/** Collects names into blocks. */
interface NameBlocks {
  readonly length: number
  add(name: FileName): void
  /** returns all blocks; call it after the last `add` */
  blocks(): readonly NameBlock[]
}

export function nameBlocks(): NameBlocks {
  const blocks: NameBlock[] = []
  let open: FileName[] = []
  let length = 0
  const close = (): void => {
    if (open.length > 0) blocks.push(blockOf(open))
    open = []
  }
  return {
    get length() {
      return length
    },
    add(name) {
      length += 1
      open.push(name)
      if (open.length === namesOfBlock) close()
    },
    blocks() {
      close()
      return blocks
    },
  }
}

function blockOf(names: readonly FileName[]): NameBlock {
  if (names.every((it) => typeof it === 'string')) {
    const text = `${names.join('\0')}\0`
    const bytes = Buffer.from(text)
    return { bytes, count: names.length, isAscii: bytes.length === text.length }
  }
  const bytes = Buffer.concat(names.flatMap((it) => [Buffer.from(it), Buffer.of(0)]))
  return { bytes, count: names.length, isAscii: false }
}

export function namesIn({ bytes, isAscii, count }: NameBlock): FileName[] {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  if (isAscii) return all.toString('latin1', 0, all.length - 1).split('\0')
  const names: FileName[] = []
  for (let at = 0; names.length < count; ) {
    const end = all.indexOf(0, at)
    names.push(fileNameOf(all.subarray(at, end)))
    at = end + 1
  }
  return names
}

/** Copies the name at an index: a part of a longer buffer would keep all of it in memory. */
export function nameAt(blocks: readonly NameBlock[], index: number): FileName {
  const { bytes } = blocks[Math.floor(index / namesOfBlock)]!
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  let at = 0
  for (let before = index % namesOfBlock; before > 0; before -= 1) at = all.indexOf(0, at) + 1
  return fileNameOf(Buffer.from(all.subarray(at, all.indexOf(0, at))))
}
