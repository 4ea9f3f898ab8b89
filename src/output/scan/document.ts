import type { ErrorCode } from '../../core/error.ts'
import type { ArgumentConflict } from '../../knowledge/log-signatures.ts'
import type { AgentCounts, SignatureId } from '../../knowledge/signatures.ts'
import type { Suggestion } from '../../core/shell-command.ts'

type Severity = 'error' | 'warning' | 'info'

/** What `scan-logs --json` prints (DESIGN.md 4), and more. Times are ISO, in UTC. */
export interface ScanDocument {
  schemaVersion: 1
  /** whose log it is; left out: files, or standard input */
  deployment?: string
  /** in which times without an offset were read */
  timeZone: string
  since?: string
  until?: string
  lines: number
  bytes: number
  from?: string
  to?: string
  /** the worst first */
  matches: readonly ScanMatch[]
  /** what came first; what bears no time is left out */
  timeline: readonly { at: string; signature: SignatureId }[]
  /** the oldest first */
  files: readonly ScannedFile[]
  /** what could not be read, or not to its end */
  unread: readonly { name: string; code: ErrorCode; message: string; suggestions: readonly Suggestion[] }[]
  notes: readonly ScanNote[]
}

export interface ScanMatch {
  signature: SignatureId
  title: string
  check: string | null
  severity: Severity
  /** lines, as `grep -c` counts them */
  count: number
  records: number
  /** lines without a time that can be read */
  untimed: number
  first?: string
  last?: string
  /** of `lock-waiting`: when the lock was got after all, which makes it no problem */
  overBy?: string
  samples: readonly string[]
  /** and in how many records each stands */
  hosts?: Readonly<Record<string, number>>
  /** what a queue or exchange was asked for with, and has */
  conflicts?: readonly ArgumentConflict[]
  /** what agents counted */
  agents?: readonly AgentCounts[]
  rate: { seconds: number; counts: readonly { at: string; lines: number }[] }
  /** the command that repairs it; null: by hand, as `explain` tells */
  remedy: string | null
  explain: string
}

interface ScannedFile {
  name: string
  lines: number
  bytes: number
  from?: string
  to?: string
  counts: Readonly<Partial<Record<SignatureId, number>>>
}

/**
 * Something about the log itself that limits what is told of it. `isGap`: something could not be determined because of
 * it.
 */
export interface ScanNote {
  kind: 'binary' | 'clock' | 'dates' | 'empty' | 'interrupted' | 'time-zone'
  message: string
  isGap: boolean
}

/** What the exit code is made from. */
export function scanSummary({ matches, unread, notes }: Pick<ScanDocument, 'matches' | 'unread' | 'notes'>): {
  error: number
  warning: number
  unknown: number
} {
  const of = (severity: Severity): number => matches.filter((it) => it.severity === severity).length
  return {
    error: of('error'),
    warning: of('warning'),
    unknown: unread.length + notes.filter(({ isGap }) => isGap).length,
  }
}
