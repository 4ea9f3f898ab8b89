import { Buffer, isAscii, isUtf8 } from 'node:buffer'
import * as nodeFiles from 'node:fs'
import { codeOf, messageOf } from '../../core/error.ts'
import type { Found } from '../problem.ts'
import { leadsOut, openInside, realInside } from './inside.ts'
import { characterAt } from './name-blocks.ts'

/** The content of a file, or why there is none. */
export type Read =
  | { kind: 'value'; value: unknown; bytes: number; text: string }
  /** readable, but not as JSON; `text`: its content as far as it can be decoded */
  | { kind: 'broken'; rule: 'bad-json' | 'not-utf8'; found: Found; bytes: number; text: string }
  /** too large to be read */
  | { kind: 'huge'; bytes: number }
  | { kind: 'unread'; why: string }

/** The part of `node:fs` that reading a file needs. */
type Files = Pick<typeof nodeFiles, 'openSync' | 'readSync' | 'fstatSync' | 'closeSync'>

/** Maximum bytes of a result (SPEC.md 8). */
export const mostBytes = 2_000_000
/** Maximum bytes of a file that is read. */
const readableBytes = 64 << 20

/** Makes the buffer that files are read into, one after another; one byte longer than a result may be. */
export function readingSpace(): Buffer {
  return Buffer.allocUnsafeSlow(mostBytes + 1)
}

/** Reads a file of the directory `root` as JSON, and follows no link out of it. Never throws. */
export async function readJson(
  root: string,
  path: string | Buffer,
  space: Buffer,
  files: Files = nodeFiles,
): Promise<Read> {
  return readAtOnce(root, path, space, files) ?? (await readClosely(root, path, files))
}

/** Reads a file at once if it is JSON of usual size, as most are; null if it needs a closer look. */
export function readAtOnce(
  root: string,
  path: string | Buffer,
  space: Buffer,
  files: Files = nodeFiles,
): Extract<Read, { kind: 'value' }> | null {
  try {
    const descriptor = openInside(root, path, files)
    let bytes: number
    try {
      bytes = files.readSync(descriptor, space, 0, space.length, null)
    } finally {
      files.closeSync(descriptor)
    }
    if (bytes === 0 || bytes > mostBytes) return null
    const text = textOf(space.subarray(0, bytes))
    return text === null ? null : { kind: 'value', value: JSON.parse(text) as unknown, bytes, text }
  } catch {
    return null
  }
}

/** Reads a file and finds its faults. A file that changes meanwhile is `unread`, since it may be half written. */
async function readClosely(root: string, path: string | Buffer, files: Files): Promise<Read> {
  let bytes: Buffer
  try {
    const descriptor = openInside(root, path, files)
    try {
      const found = files.fstatSync(descriptor)
      if (!found.isFile()) return { kind: 'unread', why: 'the entry is no longer a file' }
      if (found.size > readableBytes) return { kind: 'huge', bytes: found.size }
      bytes = readAll(descriptor, found.size, files)
      if (bytes.length !== found.size || files.fstatSync(descriptor).size !== found.size)
        return { kind: 'unread', why: 'the file changed while it was read' }
    } finally {
      files.closeSync(descriptor)
    }
  } catch (error) {
    return { kind: 'unread', why: whyNot(error) }
  }
  const text = textOf(bytes)
  if (text === null)
    return {
      kind: 'broken',
      rule: 'not-utf8',
      found: notUtf8(bytes)!,
      bytes: bytes.length,
      text: bytes.toString('utf8'),
    }
  try {
    return { kind: 'value', value: JSON.parse(text) as unknown, bytes: bytes.length, text }
  } catch (error) {
    const { badJson } = await import('./json-fault.ts')
    return {
      kind: 'broken',
      rule: 'bad-json',
      found: badJson(text, bytes.length - Buffer.byteLength(text), messageOf(error)),
      bytes: bytes.length,
      text,
    }
  }
}

/** Reads up to `size` bytes, and one more if the file has grown. */
function readAll(descriptor: number, size: number, files: Files): Buffer {
  const bytes = Buffer.allocUnsafeSlow(size + 1)
  let length = 0
  while (length < bytes.length) {
    const more = files.readSync(descriptor, bytes, length, bytes.length - length, null)
    if (more === 0) break
    length += more
  }
  return bytes.subarray(0, length)
}

/** Decodes UTF-8, without the mark that some programs put before it; null if it is not UTF-8. */
function textOf(bytes: Buffer): string | null {
  if (isAscii(bytes)) return bytes.toString('latin1')
  if (!isUtf8(bytes)) return null
  const isMarked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  return bytes.toString('utf8', isMarked ? 3 : 0)
}

/** Returns the size in bytes of a file that is not read; a text says why it is unknown. */
export function sizeOf(root: string, path: string | Buffer): number | string {
  try {
    const found = nodeFiles.lstatSync(path)
    return (found.isSymbolicLink() ? nodeFiles.lstatSync(realInside(root, path)) : found).size
  } catch (error) {
    return whyNot(error)
  }
}

function whyNot(error: unknown): string {
  switch (codeOf(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'the file disappeared after the directory was listed, or is a broken link'
    case 'EACCES':
    case 'EPERM':
      return 'this user has no permission to read the file'
    case 'ELOOP':
      return 'the symbolic link leads back to itself'
    case 'EOUTSIDE':
      return leadsOut
    case 'ENXIO':
    case 'EAGAIN':
      return 'the entry is no longer a file'
    default:
      return `the file cannot be read: ${messageOf(error)}`
  }
}

/** Returns the `not-utf8` finding, placed by the number of bytes before it; null if the bytes are UTF-8. */
export function notUtf8(bytes: Buffer): Found | null {
  if (isUtf8(bytes)) return null
  const wide = wideMark(bytes)
  if (wide !== null) return { message: `the file is in ${wide}, according to its first bytes`, place: 'byte 0' }
  const at = firstBad(bytes)
  const line = bytes.subarray(0, at).reduce((count, byte) => (byte === 10 ? count + 1 : count), 1)
  return {
    message: `byte 0x${bytes[at]!.toString(16).padStart(2, '0')} is not valid UTF-8`,
    place: `line ${line} (byte ${at})`,
  }
}

function wideMark(bytes: Buffer): string | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'UTF-16 (little-endian)'
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'UTF-16 (big-endian)' : null
}

function firstBad(bytes: Buffer): number {
  // most of it is valid, and is skipped in large steps
  let at = 0
  for (let step = 1 << 20; step >= 16; step >>= 1) {
    while (at + step < bytes.length && isUtf8(bytes.subarray(at, wholeBefore(bytes, at + step))))
      at = wholeBefore(bytes, at + step)
  }
  for (let length = characterAt(bytes, at); length > 0; length = characterAt(bytes, at)) at += length
  return at
}

/** Returns where the character begins that contains the byte at `place`. */
function wholeBefore(bytes: Buffer, place: number): number {
  let at = place
  while (at > place - 4 && (bytes[at]! & 0xc0) === 0x80) at -= 1
  return at
}

/** The `source` of an attachment in raw text, up to 4,096 characters long. */
const inText = /"source"\s{0,100}:\s{0,100}"((?:[^"\\]|\\.){0,4096})"/g

/** Finds the sources of attachments in a text that cannot be read as a result. */
export function rawSources(text: string): string[] {
  return Array.from(text.matchAll(inText), ([, written]) => {
    try {
      return JSON.parse(`"${written!}"`) as string
    } catch {
      return written!
    }
  })
}
