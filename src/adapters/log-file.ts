import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { AdminError } from '../core/error.ts'
import type { ShellCommand, Suggestion } from '../core/shell-command.ts'
import type { FollowedLine, FollowOptions, LogPart, LogPartsOptions, UnreadPart } from '../core/sources.ts'
import { typed } from '../core/typed.ts'
import { followCommand, followFile, wholeJournal } from './follow-log.ts'
import { partOfFile } from './input/file.ts'
import type { ProgramResult } from './process.ts'
import { endOf, runProgram } from './process.ts'
import { programBlocks } from './program-output.ts'
import { fileFailure, notFile } from './read-file.ts'
import { openUnheld } from './open-file.ts'

const date = String.raw`\d{4}-?\d{2}-?\d{2}(?:[T_.-]?\d{2}(?:[-:.]?\d{2}){0,2})?`
/** A date with or without a count, or only a count after a dot: `app-1.log` may belong to another program. */
const added = String.raw`(?:[._-]${date}(?:[._-]\d{1,6})?|\.\d{1,6})`
/** also formats that are not unpacked here, so that their files are reported */
const compressed = String.raw`(?:\.(?:gz|gzip|zst|zstd|bz2|xz|zip|lz4))?`

/**
 * True if a file beside a log is an older part of it, by its name: as logrotate (`app.log.2.gz`) and Logback
 * (`app-2026-11-21.0.log.gz`) write them.
 */
export function isRotatedFrom(log: string, name: string): boolean {
  const [, stem, ending] = /^(.+?)((?:\.(?:log|txt|out|json))?)$/.exec(log) ?? []
  if (stem === undefined || ending === undefined || !name.startsWith(stem) || name === log) return false
  const rest = name.slice(stem.length)
  return [`${literal(ending)}${added}`, ...(ending === '' ? [] : [`${added}${literal(ending)}`])].some((form) =>
    new RegExp(`^${form}${compressed}$`).test(rest),
  )
}

/**
 * Lists a log's file and those that were rotated from it, the oldest first. Leaves out files last written before
 * `since`. Lists only the log itself if its folder cannot be read.
 */
export async function rotatedSet(log: string, since?: Date): Promise<string[]> {
  const folder = dirname(log)
  const names = await readdir(folder).catch(() => [])
  const others = await Promise.all(
    names
      .filter((name) => isRotatedFrom(basename(log), name))
      .map(async (name) => {
        const path = join(folder, name)
        const found = await stat(path).catch(() => null)
        return found?.isFile() ? [{ path, at: found.mtimeMs }] : []
      }),
  )
  const wanted = others.flat().filter(({ at }) => since === undefined || at >= since.getTime())
  return [
    ...wanted.sort((one, other) => one.at - other.at || (one.path < other.path ? 1 : -1)).map(({ path }) => path),
    log,
  ]
}

function literal(text: string): string {
  return text.replace('.', '\\.')
}

/** Where the service's log is read from. */
export type LogOrigin = { file: string } | { command: readonly [string, ...string[]] }

/** A log as text. `src/logs` interprets it. */
export interface LogText {
  /** file or command */
  readonly target: string
  /** Command that prints it; null for a file */
  readonly prints: Suggestion | null
  /**
   * Returns the newest whole lines, at most `maxBytes` bytes. `complete` is false if older text was left out; `unread`
   * is as in `LogsSource.recent`
   */
  newest(options: { maxBytes: number }): Promise<{ complete: boolean; text: string; unread?: readonly UnreadPart[] }>
  /**
   * Yields lines as they are written, until the signal ends it. Throws NOT_CONFIGURED if the log cannot be followed,
   * else as reading does
   */
  follow(options: FollowOptions): AsyncGenerator<FollowedLine>
  /**
   * Returns the whole log, one part per file, container or run of a container, in order of time as far as known. Throws
   * if the parts cannot be listed
   */
  parts(options: LogPartsOptions): Promise<readonly LogPart[]>
}

interface LogOptions {
  /** Milliseconds for the command that prints the log */
  timeoutMs: number
  /** Aborting it ends that command */
  signal?: AbortSignal | undefined
}

/**
 * Returns a log to read. Opens nothing yet: files are rotated, so each reading opens its own. Reading throws
 * UNAVAILABLE (no such file or program), FORBIDDEN, TIMED_OUT, INTERRUPTED, UNEXPECTED_ANSWER (the command fails).
 */
export function openLog(origin: LogOrigin, options: LogOptions): LogText {
  return 'file' in origin ? logOfFile(origin.file) : logOfCommand(origin.command, options)
}

function logOfFile(file: string): LogText {
  return {
    target: file,
    prints: null,
    follow: (options) => followFile(file, options),
    parts: async ({ since }) => (await rotatedSet(file, since)).map(partOfFile),
    async newest({ maxBytes }) {
      try {
        const handle = await openUnheld(file)
        try {
          const found = await handle.stat()
          if (!found.isFile()) throw notFile(file)
          const start = Math.max(0, found.size - maxBytes)
          // one more byte shows whether the part begins with a whole line
          const from = Math.max(0, start - 1)
          const buffer = Buffer.alloc(found.size - from)
          let length = 0
          while (length < buffer.length) {
            const { bytesRead } = await handle.read(buffer, length, buffer.length - length, from + length)
            // the file was truncated meanwhile
            if (bytesRead === 0) break
            length += bytesRead
          }
          const bytes = buffer.subarray(0, length)
          return start === 0
            ? { complete: true, text: decode(bytes) }
            : { complete: false, text: decode(afterFirstLine(bytes)) }
        } finally {
          await handle.close()
        }
      } catch (error) {
        throw fileFailure(error, file)
      }
    },
  }
}

function logOfCommand(command: readonly [string, ...string[]], { timeoutMs, signal }: LogOptions): LogText {
  const target = typed(command)
  return {
    target,
    prints: target,
    follow: (options) => followCommand(command, options),
    async parts({ since }) {
      const whole = wholeJournal(command, since)
      const failure = (result: ProgramResult): AdminError => logCommandFailed(typed(whole), result)
      return [{ name: target, blocks: (ended) => programBlocks(whole, { signal: either(ended, signal), failure }) }]
    },
    async newest({ maxBytes }) {
      const result = await runProgram(command, { timeoutMs, maxBytes, keepNewest: true, signal })
      if (result.exitCode !== 0) throw logCommandFailed(target, result)
      const lines = result.truncated ? result.stdout.slice(result.stdout.indexOf('\n') + 1) : result.stdout
      return { complete: !result.truncated, text: lines }
    },
  }
}

function logCommandFailed(target: ShellCommand, result: ProgramResult): AdminError {
  return new AdminError('UNEXPECTED_ANSWER', `the log command \`${target}\` ${endOf(result)}`, [target])
}

function either(...signals: readonly (AbortSignal | undefined)[]): AbortSignal {
  return AbortSignal.any(signals.filter((it) => it !== undefined))
}

function afterFirstLine(bytes: Buffer): Buffer {
  return bytes.subarray(bytes.indexOf(0x0a) + 1)
}

/** Replaces bytes that are not UTF-8: one broken line does not make a log unreadable. */
function decode(bytes: Buffer): string {
  return new TextDecoder().decode(bytes)
}
