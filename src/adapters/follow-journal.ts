import { basename } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { AdminError } from '../core/error.ts'
import type { FollowedLine, FollowOptions } from '../core/sources.ts'
import { typed } from '../core/typed.ts'
import { isRecord } from './http.ts'
import { programLines } from './program-lines.ts'

/** milliseconds after its end until `journalctl` is restarted */
const pauseMs = 1000
/** characters kept of an entry; journald keeps lines of at most 48 KB (journald.conf, LineMax) */
const maxLength = 1_000_000

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
      `the log command \`${from}\` cannot be followed: only \`journalctl\` and log files can`,
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
