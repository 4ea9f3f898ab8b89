import type { FileHandle } from 'node:fs/promises'
import { addAbortSignal } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { AdminError, codeOf, messageOf } from '../core/error.ts'
import { asPath, command } from '../core/shell-command.ts'
import { systemCode } from './failure.ts'
import type { Judgement } from './trust/judge.ts'
import { judgeOpened } from './trust/judge.ts'
import { openUnheld, streamOf, isHandedOver, noRegularFile } from './open-file.ts'

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
    if (!found.isFile()) throw noRegularFile(found.isFIFO() ? 'EPIPE' : found.isDirectory() ? 'EISDIR' : 'ENODEV')
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

/** Explains to the operator why a file cannot be read. */
export function whyUnreadable(error: unknown): string {
  const code = codeOf(error)
  if (code === 'ENOENT') return 'the file is missing'
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied'
  if (code === 'EISDIR') return 'it is a directory'
  if (code === 'EPIPE') return 'it is a pipe, not a file'
  // from opening a socket, or the node of a missing device
  if (code === 'ENODEV' || code === 'ENXIO') return 'it is a device, not a file'
  if (code === 'ELOOP') return 'its symbolic links form a loop'
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'it is not UTF-8 text'
  return messageOf(error)
}

export function notFile(file: string): AdminError {
  return new AdminError('UNAVAILABLE', `the log ${file} is not a file`, [command`ls -ld ${asPath(file)}`])
}

/** Explains why a log file cannot be read. */
export function fileFailure(error: unknown, file: string): AdminError {
  if (error instanceof AdminError) return error
  const options = { cause: error }
  switch (systemCode(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new AdminError(
        'UNAVAILABLE',
        `the log file ${file} does not exist`,
        [command`ls -l ${asPath(file)}`],
        options,
      )
    case 'EACCES':
    case 'EPERM':
      return new AdminError(
        'FORBIDDEN',
        `this user cannot read the log file ${file}`,
        [command`ls -l ${asPath(file)}`],
        options,
      )
    default:
      return new AdminError(
        'UNAVAILABLE',
        `the log file ${file} cannot be read: ${messageOf(error)}`,
        [command`ls -l ${asPath(file)}`],
        options,
      )
  }
}
