import { stat } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { AdminError } from '../../core/error.ts'
import { grouped } from '../../core/grouped.ts'
import type { LogPart } from '../../core/sources.ts'
import { fileFailure } from '../file-failure.ts'
import { openUnheld } from '../open-file.ts'
import { programBlocks } from '../program-blocks.ts'
import { formatBytes, formatOf, headBytes, isBinary, unpackers } from './format.ts'
import type { Format } from './format.ts'
import { unpacked } from './unpack.ts'
import { asPath, command, nested } from '../../core/shell-command.ts'

/** so many units in a row that are each two letters of ASCII are no UTF-16: no language has words like that */
const most = 32
const isText = (byte: number): boolean => (byte >= 0x20 && byte < 0x7f) || byte === 9 || byte === 10 || byte === 13

/**
 * UTF-16 as UTF-8, and as it is from where it goes on in 8 bits: a file that PowerShell began, and that another shell
 * or the service appends to.
 */
async function* asUtf8(
  blocks: AsyncIterable<Uint8Array>,
  encoding: 'utf-16le' | 'utf-16be',
): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder(encoding)
  const decoded = (bytes: Uint8Array, stream = true): Buffer => Buffer.from(decoder.decode(bytes, { stream }))
  /** of the last block: units that may be text in 8 bits, and half of one */
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
  /** of a file */
  size: number
  format: Format
  /** it is no text, as it stands there */
  isBinary: boolean
}

/** Throws UNAVAILABLE if nothing is there, FORBIDDEN. Never reads from a pipe, since that would consume its content. */
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
 * A file, unpacked where it is packed, as UTF-8 where it is UTF-16, or what else its name leads to. Its size is that of
 * when reading begins, and what is added meanwhile is read, too.
 */
export function partOfFile(path: string): LogPart {
  return { name: path, file: path, blocks: (signal) => blocksOf(path, signal) }
}

async function* blocksOf(path: string, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  const { kind, format } = await inspect(path)
  // Node cannot let go of a pipe that nobody writes to
  if (kind === 'other') yield* unpackedIfPacked(programBlocks(['cat', '--', path], { signal }), path)
  else yield* unpackedAs(format, fileBlocks(path, signal), path)
}

/** The same for a stream, about which nothing is known yet. */
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
    throw new AdminError('UNAVAILABLE', `${name} is compressed with ${format}, which this program cannot unpack`, [
      command`${nested(unpackers[format]!)} ${asPath(name)} | testops-admin scan-logs -`,
    ])
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

/** A file became shorter while it was being read. */
export function cutDown(path: string, read: number, size: number): AdminError {
  return new AdminError(
    'UNEXPECTED_ANSWER',
    `${path} shrank while it was being read: only ${grouped(read)} of its ${grouped(size)} bytes were read`,
    [command`ls -l ${asPath(path)}`],
  )
}
