import { stat } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { AdminError } from '../core/error.ts'
import { grouped } from '../core/grouped.ts'
import type { FollowedLine, FollowOptions } from '../core/sources.ts'
import { systemCode } from './failure.ts'
import { fileFailure, notFile } from './file-failure.ts'
import { Lines } from './lines.ts'
import { openUnheld } from './open-file.ts'

const pollMs = 250
const chunkBytes = 65_536
/** characters kept of a line */
const maxLength = 1_000_000
/** most bytes that are still read after an interrupt */
const lastBytes = 1_000_000
/** bytes of older content to read when only some older lines are wanted: a file does not show where a time begins */
const olderBytes = 10_000_000

/**
 * Yields the lines of a file as they are written, across rotation by renaming or truncation. Reads a file that appears
 * later from its beginning. Starts at the newest 10 MB if `since` is given, or at the first line if `since` is 1970. On
 * abort, yields the rest, including a last line without an end. Throws FORBIDDEN, UNAVAILABLE, and INTERRUPTED if much
 * is left.
 */
export async function* followFile(
  file: string,
  { signal, since, tell = () => undefined }: FollowOptions,
): AsyncGenerator<FollowedLine> {
  let current = await openAt(file, (size) =>
    since === undefined ? size : since.getTime() > 0 ? Math.max(0, size - olderBytes) : 0,
  )
  if (!current) tell(`the log file ${file} does not exist yet`)
  let isLast = false
  try {
    while (!signal.aborted) {
      const texts = current ? await current.more() : []
      for (const text of texts ?? []) yield { from: file, text }
      // null: nothing more for now
      if (texts !== null && current) continue
      const next = await replacement(file, current)
      if (next && isLast) {
        for (const text of current?.end() ?? []) yield { from: file, text }
        await current?.close()
        current = next
      } else await next?.close()
      // the former file is read to its end once more after the new one appeared
      isLast = next !== null
      if (!next) await sleep(pollMs, undefined, { signal }).catch(() => undefined)
    }
    if (current) for await (const text of restOf(current, file)) yield { from: file, text }
  } catch (error) {
    throw fileFailure(error, file)
  } finally {
    await current?.close()
  }
}

async function* restOf(current: OpenFile, file: string): AsyncGenerator<string> {
  const left = await current.left()
  if (left > lastBytes)
    throw new AdminError('INTERRUPTED', `interrupted while reading ${file}: ${grouped(left)} bytes were not read`)
  for (let texts = await current.more(); texts !== null; texts = await current.more()) yield* texts
  yield* current.end()
}

interface OpenFile {
  dev: number
  ino: number
  /** Reads on. Returns the complete lines, possibly none; null at the end of the file */
  more(): Promise<string[] | null>
  /** Returns the last line if it has no end */
  end(): string[]
  /** Returns the number of unread bytes */
  left(): Promise<number>
  close(): Promise<void>
}

/** Opens a file; null if it is missing. `from` receives its size and returns the position to start at. */
async function openAt(file: string, from: (size: number) => number): Promise<OpenFile | null> {
  let handle: FileHandle
  try {
    handle = await openUnheld(file)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null
    throw fileFailure(error, file)
  }
  const found = await handle.stat()
  if (!found.isFile()) {
    await handle.close()
    throw notFile(file)
  }
  const lines = new Lines(maxLength)
  const buffer = Buffer.alloc(chunkBytes)
  let at = from(found.size)
  return {
    dev: found.dev,
    ino: found.ino,
    async more() {
      const { bytesRead } = await handle.read(buffer, 0, chunkBytes, at)
      if (bytesRead > 0) {
        at += bytesRead
        return lines.add(buffer.subarray(0, bytesRead))
      }
      const { size } = await handle.stat()
      if (size >= at) return null
      // the file was truncated, and is written from its start again
      at = 0
      return lines.end()
    },
    end: () => lines.end(),
    left: async () => (await handle.stat()).size - at,
    close: async () => handle.close(),
  }
}

/**
 * Opens the file that replaced the former one. Returns null while it is empty, since the former may still be written
 * to.
 */
async function replacement(file: string, current: OpenFile | null): Promise<OpenFile | null> {
  const found = await stat(file).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return null
    throw error
  })
  if (!found || (current && (found.size === 0 || (found.dev === current.dev && found.ino === current.ino)))) return null
  return openAt(file, () => 0)
}
