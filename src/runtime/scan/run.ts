import { cutDown, inspect, isBinary } from '../../adapters/input/file.ts'
import { fileFailure } from '../../adapters/read-file.ts'
import { AdminError } from '../../core/error.ts'
import { grouped } from '../../core/format.ts'
import { asPath, command } from '../../core/shell-command.ts'
import type { FollowedLine, LogPart } from '../../core/sources.ts'
import { judged } from '../../logs/scan/tally.ts'
import { mergeTallies } from '../../logs/scan/merge.ts'
import { sampleText } from '../../logs/scan/sample.ts'
import { scanFile } from '../../logs/scan/scan-file.ts'
import type { Scan, ScanOptions } from '../../logs/scan/scanner.ts'
import { openScan, keptSearches } from '../../logs/scan/scanner.ts'
import type { Cause, Tally } from '../../logs/scan/tally.ts'

/** What was found of one signature, with samples that can be shown. */
export interface ScannedCause extends Omit<Cause, 'samples'> {
  readonly samples: readonly string[]
  /** When it was over, if its kind is usually a problem */
  readonly overBy?: Date
  /** The fault that it is a part of, if its kind alone would suggest another one */
  readonly partOf?: 'lock-stolen'
}

/** What one file, container or stream contains. */
export interface ScannedPart {
  readonly name: string
  readonly tally: Tally
  readonly isBinary: boolean
}

/** What could not be read, or not to its end. */
interface Unread {
  readonly name: string
  readonly error: AdminError
}

export interface ScanResult extends Omit<Tally, 'causes'> {
  readonly parts: readonly ScannedPart[]
  readonly unread: readonly Unread[]
  readonly causes: readonly ScannedCause[]
}

/** Merges several parts into one result. `hide` removes secrets from the lines that are shown. */
export function resultOf(
  parts: readonly ScannedPart[],
  unread: readonly Unread[],
  hide: (text: string) => string,
): ScanResult {
  const { causes, ...whole } = mergeTallies(parts.map(({ tally }) => tally))
  const shown = judged(causes).map(({ samples, ...cause }) => ({
    ...cause,
    samples: samples.map((it) => sampleText(it, hide)),
  }))
  return { ...whole, parts, unread, causes: shown }
}

interface RunOptions extends Pick<ScanOptions, 'timeZone' | 'since' | 'until'> {
  signal: AbortSignal
  /** Removes secrets from a line */
  hide: (text: string) => string
}

/** Follows a log; each line names where it comes from. */
export type Following = (signal: AbortSignal) => AsyncIterable<FollowedLine>

/** A scan in progress. */
interface ScanRun {
  /** Returns what was found so far */
  result(): ScanResult
  /** Resolves when everything is read, or the signal has ended the scan; rejects only for a bug */
  readonly ended: Promise<void>
}

/** Scans the parts one after the other, each in the quickest way, and then what follows, if any. */
export function startScan(
  parts: readonly LogPart[],
  following: Following | null,
  { signal, hide, ...window }: RunOptions,
): ScanRun {
  const options = { ...window, searches: keptSearches() }
  const done: ScannedPart[] = []
  const unread: Unread[] = []
  const open = new Map<string, OpenPart>()
  const goneOver = (name: string, error: unknown): void => {
    if (!(error instanceof AdminError)) throw error
    unread.push({ name, error })
  }

  /** Records a part as read. `file`: the file that holds these bytes unchanged */
  const over = (part: ScannedPart, file?: string): void => {
    done.push(part)
    if (part.tally.wideAt !== null) goneOver(part.name, wideFrom(part.tally.wideAt, file))
  }

  const readStream = async (part: LogPart): Promise<void> => {
    const it = openPart(part.name, options)
    open.set(part.name, it)
    try {
      for await (const block of part.blocks(signal)) {
        it.write(block)
        if (signal.aborted) break
      }
    } catch (error) {
      if (!signal.aborted) goneOver(part.name, error)
    }
    open.delete(part.name)
    over(it.end())
  }

  const read = async (part: LogPart): Promise<void> => {
    const { name, file } = part
    if (file === undefined) return readStream(part)
    try {
      const found = await inspect(file)
      if (found.kind !== 'file' || found.format !== 'plain') return await readStream(part)
      const tally = await scanFile(file, options, signal).catch((error: unknown) => {
        throw fileFailure(error, file)
      })
      over({ name, tally, isBinary: found.isBinary }, file)
      if (tally.bytes < found.size)
        goneOver(name, signal.aborted ? interruptedAt(tally.bytes, found.size) : cutDown(file, tally.bytes, found.size))
    } catch (error) {
      goneOver(name, error)
    }
  }

  const follow = async (more: Following): Promise<void> => {
    try {
      for await (const { from, text, stamp = '' } of more(signal)) {
        const it = open.get(from) ?? openPart(from, options)
        open.set(from, it)
        it.write(Buffer.from(`${stamp}${text}\n`))
      }
    } catch (error) {
      // after an intended end, only this matters: that there was more to read
      const isMore = error instanceof AdminError && error.code === 'INTERRUPTED'
      if (!signal.aborted || isMore) goneOver('the lines that follow', error)
    }
    for (const it of open.values()) over(it.end())
    open.clear()
  }

  const all = async (): Promise<void> => {
    for (const part of parts) {
      if (signal.aborted) break
      await read(part)
    }
    if (!following) return
    if (signal.aborted)
      goneOver('the lines that follow', new AdminError('INTERRUPTED', 'interrupted before everything was read'))
    else await follow(following)
  }
  return {
    result: () => resultOf([...done, ...[...open.values()].map((it) => it.soFar())], unread, hide),
    ended: all(),
  }
}

function interruptedAt(read: number, size: number): AdminError {
  return new AdminError('INTERRUPTED', `interrupted after ${grouped(read)} of ${grouped(size)} bytes`)
}

function wideFrom(at: number, file: string | undefined): AdminError {
  const next =
    file === undefined
      ? []
      : [
          command`tail -c +${String(at + 1)} ${asPath(file)} | iconv -c -f UTF-16LE -t UTF-8 | testops-admin scan-logs
            -`,
        ]
  return new AdminError(
    'UNEXPECTED_ANSWER',
    `the text after byte ${grouped(at)} is in UTF-16 and was not searched`,
    next,
  )
}

interface OpenPart {
  write: Scan['write']
  soFar(): ScannedPart
  end(): ScannedPart
}

function openPart(name: string, options: ScanOptions): OpenPart {
  const scan = openScan(options)
  let binary: boolean | null = null
  return {
    write(block) {
      binary ??= isBinary(block)
      scan.write(block)
    },
    soFar: () => ({ name, tally: scan.tally(), isBinary: binary ?? false }),
    end: () => ({ name, tally: scan.end(), isBinary: binary ?? false }),
  }
}
