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
