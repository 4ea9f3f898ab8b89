import type { AdminError } from '../../core/error.ts'
import { judged } from '../../logs/scan/judge.ts'
import { mergeTallies } from '../../logs/scan/merge.ts'
import { sampleText } from '../../logs/scan/sample.ts'
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
export interface Unread {
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
