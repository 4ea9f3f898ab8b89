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
/** of a line, in characters */
const maxLength = 1_000_000
/** bytes that are read still when it is to end */
const lastBytes = 1_000_000
/**
 * how much of what was there before is read where some of the older lines are wanted: a file does not tell where a time
 * begins
 */
const olderBytes = 10_000_000

/**
 * The lines of a file as they are written, over rotation by renaming and by cutting it down, and from its beginning
 * where it appears later. Where older lines are wanted, it begins with the newest 10 MB; where all of them are, with
 * the first. When the signal ends it, what is left comes, with a last line that has no end. Throws FORBIDDEN,
 * UNAVAILABLE, and INTERRUPTED where much is left.
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
      // the former file is read to its end once more after the new one was seen
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
  /** lines that have come to their end, perhaps none yet; null: there is nothing more to read */
  more(): Promise<string[] | null>
  /** what has no end */
  end(): string[]
  /** bytes that were not read yet */
  left(): Promise<number>
  close(): Promise<void>
}

/** Null: there is no such file. `from` is given its size. */
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
      // it was cut down, and is written anew
      at = 0
      return lines.end()
    },
    end: () => lines.end(),
    left: async () => (await handle.stat()).size - at,
    close: async () => handle.close(),
  }
}

/**
 * The file that stands in the place of the former one; null as long as nothing is written to it, since the former may
 * still be.
 */
async function replacement(file: string, current: OpenFile | null): Promise<OpenFile | null> {
  const found = await stat(file).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return null
    throw error
  })
  if (!found || (current && (found.size === 0 || (found.dev === current.dev && found.ino === current.ino)))) return null
  return openAt(file, () => 0)
}
