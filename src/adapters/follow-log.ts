import type { FileHandle } from 'node:fs/promises'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { AdminError } from '../core/error.ts'
import { grouped } from '../core/format.ts'
import type { FollowedLine, FollowOptions } from '../core/sources.ts'
import { typed } from '../core/typed.ts'
import { systemCode } from './failure.ts'
import { isRecord } from './http.ts'
import { Lines } from './lines.ts'
import { programLines } from './program-output.ts'
import { fileFailure, notFile } from './read-file.ts'
import { openUnheld } from './open-file.ts'

const pollMs = 250
const chunkBytes = 65_536
/** characters kept of a line; journald keeps at most 48 KB of one (journald.conf, LineMax) */
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

/** milliseconds after its end until `journalctl` is restarted */
const pauseMs = 1000

/**
 * Yields what a log command prints from now on. Only `journalctl` can be followed (journalctl(1)); its cursor shows
 * where to resume if it ends. Throws NOT_CONFIGURED for any other command, UNAVAILABLE, and UNEXPECTED_ANSWER if the
 * first try fails.
 */
export async function* followCommand(
  command: readonly [string, ...string[]],
  { signal, since = new Date(), tell = () => undefined }: FollowOptions,
): AsyncGenerator<FollowedLine> {
  const from = typed(command)
  if (!isJournal(command)) {
    throw new AdminError(
      'NOT_CONFIGURED',
      `cannot follow the log command \`${from}\`: only \`journalctl\` and log files can be followed`,
      ['set `host.logs.file`'],
    )
  }
  let cursor: string | null = null
  let trouble: string | null = null
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    // the last of repeated options wins
    const start = cursor === null ? sinceOption(since) : `--after-cursor=${cursor}`
    try {
      for await (const line of programLines([...command, '--follow', '--lines=all', '--output=json', '--all', start], {
        maxLength,
        signal,
      })) {
        const entry = entryIn(line)
        if (entry === null) continue
        for (const text of entry.text.split('\n')) yield { from, text }
        cursor = entry.cursor
        trouble = null
      }
    } catch (error) {
      if ((isFirst && cursor === null) || !(error instanceof AdminError)) throw error
      if (error.message !== trouble) tell(error.message)
      trouble = error.message
    }
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
  }
}

function isJournal(command: readonly string[]): boolean {
  return command.some((word) => basename(word) === 'journalctl')
}

/**
 * Returns a `journalctl` command without its limit on lines, and starting at `since`. Returns any other command
 * unchanged. The last of repeated options wins.
 */
export function wholeJournal(command: readonly [string, ...string[]], since?: Date): readonly [string, ...string[]] {
  if (!isJournal(command)) return command
  return [...command, '--lines=all', '--all', ...(since === undefined ? [] : [sinceOption(since)])]
}

function sinceOption(since: Date): string {
  return `--since=@${(since.getTime() / 1000).toFixed(3)}`
}

/** Parses an entry; null if the line is none. Binary text comes as its bytes (systemd, "JSON File Format"). */
function entryIn(line: string): { cursor: string; text: string } | null {
  let entry: unknown
  try {
    entry = JSON.parse(line)
  } catch {
    return null
  }
  if (!isRecord(entry) || typeof entry['__CURSOR'] !== 'string') return null
  const message = entry['MESSAGE']
  const text = Array.isArray(message) ? new TextDecoder().decode(Uint8Array.from(message.map(Number))) : message
  return typeof text === 'string' ? { cursor: entry['__CURSOR'], text } : null
}
