import { Buffer, isAscii, isUtf8 } from 'node:buffer'
import * as nodeFiles from 'node:fs'
import { codeOf, messageOf } from '../../core/error.ts'
import type { Found } from '../problem.ts'
import { leadsOut, openInside, realInside } from './inside.ts'
import { characterAt } from './file-name.ts'

/** What a file holds. */
export type Read =
  | { kind: 'value'; value: unknown; bytes: number; text: string }
  /** it can be read, and not as JSON; `text`: what there is of it */
  | { kind: 'broken'; rule: 'bad-json' | 'not-utf8'; found: Found; bytes: number; text: string }
  /** too much to be looked at */
  | { kind: 'huge'; bytes: number }
  | { kind: 'unread'; why: string }

/** What is used of `node:fs`. */
export type Files = Pick<typeof nodeFiles, 'openSync' | 'readSync' | 'fstatSync' | 'closeSync'>

/** a result of more bytes is none (SPEC.md 8) */
export const mostBytes = 2_000_000
/** what is larger is not read */
const readableBytes = 64 << 20

/** Where files are read into, one after the other; longer by one byte than a result may be. */
export function readingSpace(): Buffer {
  return Buffer.allocUnsafeSlow(mostBytes + 1)
}

/** Reads a file of the directory `root`, and no link out of it. Never throws. */
export async function readJson(
  root: string,
  path: string | Buffer,
  space: Buffer,
  files: Files = nodeFiles,
): Promise<Read> {
  return readAtOnce(root, path, space, files) ?? (await readClosely(root, path, files))
}

/** A result as most are: of usual size, and JSON; null: it has to be looked at more closely. Its text is not kept. */
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

/** A file that changes meanwhile is not judged: what is there of it may be half of what was written. */
async function readClosely(root: string, path: string | Buffer, files: Files): Promise<Read> {
  let bytes: Buffer
  try {
    const descriptor = openInside(root, path, files)
    try {
      const found = files.fstatSync(descriptor)
      if (!found.isFile()) return { kind: 'unread', why: 'is no longer a file' }
      if (found.size > readableBytes) return { kind: 'huge', bytes: found.size }
      bytes = readAll(descriptor, found.size, files)
      if (bytes.length !== found.size || files.fstatSync(descriptor).size !== found.size)
        return { kind: 'unread', why: 'was written to while it was read' }
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

/** As much as was there, and a byte more where it grew. */
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

/** Without the mark that some programs put before UTF-8; null: it is none. */
function textOf(bytes: Buffer): string | null {
  if (isAscii(bytes)) return bytes.toString('latin1')
  if (!isUtf8(bytes)) return null
  const isMarked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  return bytes.toString('utf8', isMarked ? 3 : 0)
}

/** How large a file is that is not read; a text: why that is not known. */
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
      return 'has disappeared since the directory was listed, or is a link that leads nowhere'
    case 'EACCES':
    case 'EPERM':
      return 'may not be read by this user'
    case 'ELOOP':
      return 'is a symbolic link that leads back to itself'
    case 'EOUTSIDE':
      return leadsOut
    case 'ENXIO':
    case 'EAGAIN':
      return 'is no longer a file'
    default:
      return `cannot be read: ${messageOf(error)}`
  }
}

/** `not-utf8`: where, by the number of bytes before it; null: it is UTF-8. */
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
  // most of it is right, and is skipped in large steps
  let at = 0
  for (let step = 1 << 20; step >= 16; step >>= 1) {
    while (at + step < bytes.length && isUtf8(bytes.subarray(at, wholeBefore(bytes, at + step))))
      at = wholeBefore(bytes, at + step)
  }
  for (let length = characterAt(bytes, at); length > 0; length = characterAt(bytes, at)) at += length
  return at
}

/** Where the character begins that a place is in. */
function wholeBefore(bytes: Buffer, place: number): number {
  let at = place
  while (at > place - 4 && (bytes[at]! & 0xc0) === 0x80) at -= 1
  return at
}
