import type { FileHandle } from 'node:fs/promises'
import { addAbortSignal } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { codeOf, messageOf } from '../core/error.ts'
import { openUnheld, streamOf } from './open-file.ts'
import { judgeOpened } from './trust/judge.ts'
import type { Judgement } from './trust/judge.ts'

/**
 * Reads a file or a pipe, no matter who wrote it; null if it has more than `maxBytes`. Throws system errors, and
 * AbortError once `signal` aborts: nobody may ever write to the pipe.
 */
export async function readUpTo(path: string, maxBytes: number, signal?: AbortSignal): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of addAbortSignal(
    signal ?? new AbortController().signal,
    streamOf(path),
  ) as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > maxBytes) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/**
 * Reads a regular file once `accept` has let its judgement pass; null if it has more than `maxBytes`. Opens the file
 * once, so that it reads what it judged. A pipe from the caller's shell (`<(…)`) is the caller's own. Throws what
 * `accept` throws, system errors, and EISDIR, EPIPE or ENODEV for other kinds. Waits for nothing.
 */
export async function readJudged(
  path: string,
  maxBytes: number,
  accept: (judgement: Judgement) => void,
): Promise<Buffer | null> {
  const handle = await openUnheld(path)
  try {
    const found = await handle.stat()
    if (found.isFIFO() && isHandedOver(path)) return await readUpTo(path, maxBytes)
    if (!found.isFile()) throw notFile(found.isFIFO() ? 'EPIPE' : found.isDirectory() ? 'EISDIR' : 'ENODEV')
    accept(judgeOpened(path, handle.fd))
    return await upTo(handle, maxBytes)
  } finally {
    await handle.close()
  }
}

/** Judges a file without reading it; null if it cannot be opened or is not a file. */
export async function judgementOf(path: string): Promise<Judgement | null> {
  const handle = await openUnheld(path).catch(() => null)
  try {
    return handle && (await handle.stat()).isFile() ? judgeOpened(path, handle.fd) : null
  } finally {
    await handle?.close()
  }
}

async function upTo(handle: FileHandle, maxBytes: number): Promise<Buffer | null> {
  // a pipe has no size that could be asked
  const content = await buffer(handle.createReadStream({ end: maxBytes, autoClose: false }))
  return content.length > maxBytes ? null : content
}

/** True for a descriptor that this process inherited when it started. */
function isHandedOver(path: string): boolean {
  return /^\/(?:dev\/(?:stdin|fd\/\d+)|proc\/self\/fd\/\d+)$/.test(path)
}

function notFile(code: string): Error {
  return Object.assign(new Error(`${code}: no regular file`), { code })
}

/** Explains to the operator why a file cannot be read. */
export function whyUnreadable(error: unknown): string {
  const code = codeOf(error)
  if (code === 'ENOENT') return 'there is no such file'
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied'
  if (code === 'EISDIR') return 'it is a directory'
  if (code === 'EPIPE') return 'it is a pipe, not a file'
  // from opening a socket, or the node of a missing device
  if (code === 'ENODEV' || code === 'ENXIO') return 'it is a device, not a file'
  if (code === 'ELOOP') return 'its symbolic links form a loop'
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'it is not UTF-8 text'
  return messageOf(error)
}
