import { readdir, readlink, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { systemCode } from '../../adapters/failure.ts'
import type { Inspected } from '../../adapters/input/file.ts'
import { inspect, partOfFile, unpackedIfPacked } from '../../adapters/input/file.ts'
import { isRotatedFrom, openLog } from '../../adapters/log-file.ts'
import { AdminError } from '../../core/error.ts'
import { handover } from '../../core/handover.ts'
import { nearestNames } from '../../core/nearest.ts'
import { asPath, command } from '../../core/shell-command.ts'
import type { FollowedLine, LogPart, LogsSource } from '../../core/sources.ts'
import { lineHeadReader } from '../../logs/scan/line-head.ts'
import type { Following } from './run.ts'

export type { ScannedCause, ScanResult } from './run.ts'
export { startScan } from './run.ts'

/** Bytes read from the beginning of a file */
const headBytes = 65_536

/** Sorts parts by the time of their first record; those without a time come last, in the order given. */
async function inTimeOrder(parts: readonly LogPart[], timeZone: string | null): Promise<LogPart[]> {
  const timed: { part: LogPart; at: number }[] = []
  for (const part of parts) timed.push({ part, at: (await beginningOf(part, timeZone)) ?? Infinity })
  return timed.sort((one, other) => (one.at === other.at ? 0 : one.at - other.at)).map(({ part }) => part)
}

/** Returns the time of the first record; null if none shows. Reading the part later reports why it cannot be read. */
async function beginningOf(part: LogPart, timeZone: string | null): Promise<number | null> {
  const headOf = lineHeadReader(timeZone)
  try {
    for await (const block of part.blocks()) {
      const lines = Buffer.from(block.subarray(0, headBytes)).toString('latin1').split('\n')
      return lines.map((line) => headOf(line).at).find((at) => at !== null) ?? null
    }
  } catch {
    return null
  }
  return null
}

interface FilesWish {
  timeZone: string | null
  follow?: ((message: string) => void) | null
  /** What `-` stands for */
  input: AsyncIterable<Uint8Array>
}

/** Maximum number of a folder's names listed */
const mostNames = 3

/** Returns the named files, the oldest first; `-` is standard input. Throws USAGE for a folder or a missing file. */
export async function inputsIn(names: readonly string[], { timeZone, follow, input }: FilesWish): Promise<Inputs> {
  const unique = await withoutTwins(names)
  const found = new Map<string, Inspected | null>()
  for (const name of unique) if (name !== '-') found.set(name, await look(name))
  const parts = unique.map((name) => (name === '-' ? standardInput(input) : partOfFile(name)))
  // a pipe can be read only once
  const isFile = ({ file }: LogPart): boolean => file !== undefined && found.get(file)?.kind === 'file'
  const files = parts.filter(isFile)
  const ordered = [
    ...(files.length > 1 ? await inTimeOrder(files, timeZone) : files),
    ...parts.filter((it) => !isFile(it)),
  ]
  if (!follow) return { parts: ordered, following: null }
  const isLive = ({ file }: LogPart): boolean =>
    file !== undefined &&
    found.get(file)?.kind === 'file' &&
    found.get(file)?.format === 'plain' &&
    !unique.some((other) => isOlderPart(file, other))
  const live = ordered.flatMap((it) => (isLive(it) ? [it.name] : []))
  if (live.length === 0 && files.length === unique.length)
    follow('cannot follow these files: they are compressed or in UTF-16. They are scanned once instead')
  return {
    parts: ordered.filter((it) => !isLive(it)),
    following: live.length === 0 ? null : (signal) => followAll(live, signal, follow),
  }
}

function standardInput(input: AsyncIterable<Uint8Array>): LogPart {
  return { name: 'standard input', blocks: () => unpackedIfPacked(input, 'standard input') }
}

/** Removes further names of a file, such as a link beside its target, so that each file is read once. */
async function withoutTwins(names: readonly string[]): Promise<string[]> {
  const files = new Map<string, string>()
  for (const name of names) {
    const file = name === '-' ? name : await realpath(name).catch(() => name)
    if (!files.has(file)) files.set(file, name)
  }
  return [...files.values()]
}

/** Inspects a named file; null if it exists, but only reading it shows what it is. */
async function look(name: string): Promise<Inspected | null> {
  try {
    const found = await inspect(name)
    if (found.kind !== 'folder') return found
  } catch (error) {
    if (!(error instanceof AdminError)) throw error
    const why = systemCode(error.cause)
    if (why !== 'ENOENT' && why !== 'ENOTDIR') return null
    const target = await readlink(name).catch(() => null)
    if (target !== null)
      throw new AdminError(
        'USAGE',
        `${name} is a link to ${target}, which is missing`,
        [command`ls -l ${asPath(name)}`],
        { cause: error },
      )
    const near = nearestNames(basename(name), await namesIn(dirname(name))).map((other) => join(dirname(name), other))
    throw new AdminError(
      'USAGE',
      `there is no file ${name}`,
      near.map((other) => command`testops-admin scan-logs ${asPath(other)}`),
      { cause: error },
    )
  }
  throw await folderNamed(name)
}

async function folderNamed(name: string): Promise<AdminError> {
  const logs = (await namesIn(name)).filter((it) => /\.(?:log|txt|out|json)\b|\.(?:gz|zst)$/.test(it)).sort()
  const shown = logs.slice(0, mostNames).map((it) => join(name, it))
  const pattern =
    logs.length > mostNames ? [command`testops-admin scan-logs ${asPath(name.replace(/(?<!\/)\/*$/, ''))}/*.log*`] : []
  const next =
    shown.length === 0
      ? [command`ls ${asPath(name)}`]
      : [...pattern, command`testops-admin scan-logs ${shown.map(asPath)}`]
  return new AdminError('USAGE', `${name} is a folder. Give the paths of the log files in it`, next)
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => [])
}

function isOlderPart(file: string, other: string): boolean {
  return dirname(file) === dirname(other) && isRotatedFrom(basename(other), basename(file))
}

/** Yields the lines of several files as they are written, each from its first on; once ended, the rest of each. */
async function* followAll(
  files: readonly string[],
  ended: AbortSignal,
  tell: (message: string) => void,
): AsyncGenerator<FollowedLine> {
  const stop = new AbortController()
  const signal = AbortSignal.any([ended, stop.signal])
  const lines = handover<FollowedLine>(signal)
  const rest: FollowedLine[] = []
  const work = files.map(async (file) => {
    try {
      for await (const line of openLog({ file }, { timeoutMs: 0 }).follow({ signal, since: new Date(0), tell }))
        if (!(await lines.put(line))) rest.push(line)
    } catch (error) {
      lines.fail(error)
      throw error
    }
  })
  const over = Promise.allSettled(work)
  try {
    yield* lines.values()
    await over
    yield* rest
    await Promise.all(work)
  } finally {
    stop.abort()
    await over
  }
}

/** What is scanned: what exists, and what comes after that if the log is followed. */
export interface Inputs {
  readonly parts: readonly LogPart[]
  readonly following: Following | null
  /** Files of the log, which must not be written to */
  readonly files?: readonly string[]
}

interface LogWish {
  /** Leaves out what was written before */
  since?: Date | undefined
  signal: AbortSignal
  /** Also reads what comes from now on; receives messages about what keeps it from coming */
  follow?: ((message: string) => void) | null
}

/** Milliseconds by which clocks of engines and of the service may differ: an engine leaves lines out for good */
const marginMs = 60_000

/** Returns the log of a deployment. Throws as its platform does if it cannot list the log's parts. */
export async function inputsOf(logs: LogsSource, { since, signal, follow }: LogWish): Promise<Inputs> {
  const from = since && new Date(since.getTime() - marginMs)
  const parts = await logs.parts({ signal, since: from })
  const written = [logs.target, ...parts.flatMap(({ file }) => file ?? [])].filter((it) => it.startsWith('/'))
  if (!follow) return { parts, following: null, files: written }
  const files = parts.filter(({ file }) => file !== undefined)
  // a file does not show where a time begins, so it is read whole
  const start = files.length > 0 ? new Date(0) : (from ?? new Date(0))
  return {
    parts: files.filter(({ file }) => file !== logs.target),
    following: (ended) => logs.follow({ signal: ended, since: start, tell: follow }),
    files: written,
  }
}
