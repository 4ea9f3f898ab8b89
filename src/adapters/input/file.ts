import type { FileHandle } from 'node:fs/promises'
import { stat } from 'node:fs/promises'
import { AdminError } from '../../core/error.ts'
import { grouped } from '../../core/format.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import { asPath, command, nested } from '../../core/shell-command.ts'
import type { LogPart } from '../../core/sources.ts'
import { programBlocks } from '../program-output.ts'
import { fileFailure } from '../read-file.ts'
import { openUnheld } from '../open-file.ts'
import { unpacked } from './unpack.ts'

/** How a file is compressed or encoded, judged by its first bytes, since names can be wrong. */
type Format = 'plain' | 'utf-16le' | 'utf-16be' | 'gzip' | 'zstd' | 'bzip2' | 'xz' | 'zip' | 'lz4'

const beginnings: readonly (readonly [Format, readonly number[]])[] = [
  ['gzip', [0x1f, 0x8b]],
  ['zstd', [0x28, 0xb5, 0x2f, 0xfd]],
  ['bzip2', [0x42, 0x5a, 0x68]],
  ['xz', [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]],
  ['zip', [0x50, 0x4b, 0x03, 0x04]],
  ['lz4', [0x04, 0x22, 0x4d, 0x18]],
]

/** Bytes needed to detect the format */
const formatBytes = 6
/** Bytes that grep examines before it calls a file binary */
const headBytes = 32_768

function formatOf(head: Uint8Array): Format {
  // a skippable frame may come before the others (RFC 8878, 3.1.2)
  if ((head[0]! & 0xf0) === 0x50 && head[1] === 0x2a && head[2] === 0x4d && head[3] === 0x18) return 'zstd'
  return (
    beginnings.find(([, bytes]) => bytes.every((byte, index) => head[index] === byte))?.[0] ?? utf16In(head) ?? 'plain'
  )
}

/** Programs for the formats that this program cannot unpack. */
export const unpackers: Readonly<Partial<Record<Format, Suggestion>>> = {
  bzip2: 'bzcat',
  xz: 'xzcat',
  zip: 'unzip -p',
  lz4: 'lz4cat',
}

/** True if the first bytes are not text: they contain a NUL, as for grep without -a. */
export function isBinary(head: Uint8Array): boolean {
  return head.subarray(0, headBytes).includes(0)
}

/** consecutive units of two ASCII characters that show the text is not UTF-16: no language has words like that */
const most = 32
const isText = (byte: number): boolean => (byte >= 0x20 && byte < 0x7f) || byte === 9 || byte === 10 || byte === 13

/**
 * Converts UTF-16 to UTF-8. Passes text on unchanged from where it continues in 8 bits: in a file that PowerShell
 * began, and that another shell or the service appends to.
 */
async function* asUtf8(
  blocks: AsyncIterable<Uint8Array>,
  encoding: 'utf-16le' | 'utf-16be',
): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder(encoding)
  const decoded = (bytes: Uint8Array, stream = true): Buffer => Buffer.from(decoder.decode(bytes, { stream }))
  /** end of the last block: units that may be 8-bit text, and half of one */
  let held = Buffer.alloc(0)
  let isOver = false
  for await (const block of blocks) {
    if (isOver) {
      yield block
      continue
    }
    const bytes = Buffer.concat([held, block])
    let [at, run] = [0, 0]
    for (; at + 1 < bytes.length && run < most; at += 2)
      run = isText(bytes[at]!) && isText(bytes[at + 1]!) ? run + 1 : 0
    const start = at - 2 * run
    yield decoded(bytes.subarray(0, start))
    held = bytes.subarray(start)
    isOver = run === most
    if (!isOver) continue
    yield decoded(Buffer.alloc(0), false)
    yield held
    held = Buffer.alloc(0)
  }
  yield isOver ? held : decoded(held, false)
}

const blockBytes = 1 << 20

/** What is at a path. */
export interface Inspected {
  kind: 'file' | 'folder' | 'other'
  /** Bytes of a file; 0 for anything else */
  size: number
  format: Format
  /** True if its first bytes, still packed, are not text */
  isBinary: boolean
}

/**
 * Inspects a path, but never reads from a pipe, to leave its content. Throws UNAVAILABLE if it is missing, FORBIDDEN.
 */
export async function inspect(path: string): Promise<Inspected> {
  try {
    const found = await stat(path)
    if (!found.isFile())
      return { kind: found.isDirectory() ? 'folder' : 'other', size: 0, format: 'plain', isBinary: false }
    const handle = await openUnheld(path)
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(headBytes), 0, headBytes, 0)
      const head = buffer.subarray(0, bytesRead)
      return { kind: 'file', size: found.size, format: formatOf(head), isBinary: isBinary(head) }
    } finally {
      await handle.close()
    }
  } catch (error) {
    throw fileFailure(error, path)
  }
}

/**
 * Returns a file, pipe or device as a part of a log: unpacked if it is packed, as UTF-8 if it is UTF-16. Reads what is
 * added meanwhile. Reading fails if a file becomes shorter than it was at the start.
 */
export function partOfFile(path: string): LogPart {
  return { name: path, file: path, blocks: (signal) => blocksOf(path, signal) }
}

async function* blocksOf(path: string, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  const { kind, format } = await inspect(path)
  // Node cannot stop reading a pipe that has no writer
  if (kind === 'other') yield* unpackedIfPacked(programBlocks(['cat', '--', path], { signal }), path)
  else yield* unpackedAs(format, fileBlocks(path, signal), path)
}

/** Unpacks a packed stream, and converts UTF-16 to UTF-8. Throws UNAVAILABLE for a format it cannot unpack. */
export async function* unpackedIfPacked(blocks: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  const all = blocks[Symbol.asyncIterator]()
  let head = Buffer.alloc(0)
  while (head.length < formatBytes) {
    const next = await all.next()
    if (next.done) break
    head = Buffer.concat([head, next.value])
  }
  yield* unpackedAs(formatOf(head), joined(head, all), name)
}

async function* joined(head: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    if (head.length > 0) yield head
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
  } finally {
    await rest.return?.()
  }
}

async function* unpackedAs(
  format: Format,
  blocks: AsyncGenerator<Uint8Array>,
  name: string,
): AsyncGenerator<Uint8Array> {
  if (format === 'plain') yield* blocks
  else if (format === 'utf-16le' || format === 'utf-16be') yield* asUtf8(blocks, format)
  else if (format === 'gzip' || format === 'zstd') yield* unpacked(blocks, format)
  else {
    await blocks.return(undefined)
    throw new AdminError(
      'UNAVAILABLE',
      `${name} is compressed with ${format}, and testops-admin cannot unpack this format`,
      [command`${nested(unpackers[format]!)} ${asPath(name)} | testops-admin scan-logs -`],
    )
  }
}

async function* fileBlocks(path: string, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  let handle: FileHandle | null = null
  try {
    handle = await openUnheld(path)
    const { size } = await handle.stat()
    for (let at = 0; signal?.aborted !== true; ) {
      const block = Buffer.allocUnsafe(Math.min(blockBytes, Math.max(65_536, size - at)))
      const { bytesRead } = await handle.read(block, 0, block.length, at)
      if (bytesRead === 0) {
        if (at < size) throw cutDown(path, at, size)
        return
      }
      at += bytesRead
      yield block.subarray(0, bytesRead)
    }
  } catch (error) {
    throw fileFailure(error, path)
  } finally {
    await handle?.close()
  }
}

/** Returns the error for a file that became shorter while it was read. */
export function cutDown(path: string, read: number, size: number): AdminError {
  return new AdminError(
    'UNEXPECTED_ANSWER',
    `${path} shrank while it was being read: only ${grouped(read)} of its ${grouped(size)} bytes were read`,
    [command`ls -l ${asPath(path)}`],
  )
}

/**
 * Returns the UTF-16 form that the first bytes of a text mark, as in output that PowerShell redirects; null: another
 * encoding.
 */
export function utf16In(head: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  return head[0] === 0xfe && head[1] === 0xff ? 'utf-16be' : null
}
