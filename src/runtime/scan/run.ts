import { cutDown, inspect } from '../../adapters/input/file.ts'
import { isBinary } from '../../adapters/input/format.ts'
import { fileFailure } from '../../adapters/file-failure.ts'
import { AdminError } from '../../core/error.ts'
import { grouped } from '../../core/grouped.ts'
import { asPath, command } from '../../core/shell-command.ts'
import type { FollowedLine, LogPart } from '../../core/sources.ts'
import { finders } from '../../logs/scan/engine.ts'
import { openScan } from '../../logs/scan/scanner.ts'
import type { Scan, ScanOptions } from '../../logs/scan/scanner.ts'
import { scanFile } from '../../logs/scan/scan-file.ts'
import { resultOf } from './result.ts'
import type { ScannedPart, ScanResult, Unread } from './result.ts'

export interface RunOptions extends Pick<ScanOptions, 'timeZone' | 'since' | 'until'> {
  signal: AbortSignal
  /** Removes secrets from a line */
  hide: (text: string) => string
}

/** Follows a log; each line names where it comes from. */
export type Following = (signal: AbortSignal) => AsyncIterable<FollowedLine>

/** A scan in progress. */
export interface ScanRun {
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
  const options = { ...window, finders: finders() }
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
      if (!signal.aborted || isMore) goneOver('what follows', error)
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
      goneOver('what follows', new AdminError('INTERRUPTED', 'interrupted before everything was read'))
    else await follow(following)
  }
  return {
    result: () => resultOf([...done, ...[...open.values()].map((it) => it.soFar())], unread, hide),
    ended: all(),
  }
}

function interruptedAt(read: number, size: number): AdminError {
  return new AdminError(
    'INTERRUPTED',
    `interrupted: the first ${grouped(read)} of its ${grouped(size)} bytes are counted`,
  )
}

function wideFrom(at: number, file: string | undefined): AdminError {
  const next =
    file === undefined
      ? []
      : [
          command`tail -c +${String(at + 1)} ${asPath(file)} | iconv -c -f UTF-16LE -t UTF-8 | testops-admin scan-logs -`,
        ]
  return new AdminError(
    'UNEXPECTED_ANSWER',
    `the text from byte ${grouped(at)} on is in UTF-16, and is not searched`,
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
