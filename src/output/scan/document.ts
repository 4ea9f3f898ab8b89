import type { ErrorCode } from '../../core/error.ts'
import type { ArgumentConflict } from '../../knowledge/log-signatures.ts'
import type { AgentCounts, SignatureId } from '../../knowledge/signatures.ts'
import type { Suggestion } from '../../core/shell-command.ts'

type Severity = 'error' | 'warning' | 'info'

/** What `scan-logs --json` prints (DESIGN.md 4), and more. Times are ISO, in UTC. */
export interface ScanDocument {
  schemaVersion: 1
  /** The deployment whose log it is; absent for files and standard input */
  deployment?: string
  /** Time zone of times without an offset */
  timeZone: string
  since?: string
  until?: string
  lines: number
  bytes: number
  from?: string
  to?: string
  /** The worst first */
  matches: readonly ScanMatch[]
  /** The first time of each signature, the earliest first; those without a time are absent */
  timeline: readonly { at: string; signature: SignatureId }[]
  /** The oldest first */
  files: readonly ScannedFile[]
  /** What could not be read, or not to its end */
  unread: readonly { name: string; code: ErrorCode; message: string; suggestions: readonly Suggestion[] }[]
  notes: readonly ScanNote[]
}

export interface ScanMatch {
  signature: SignatureId
  title: string
  check: string | null
  severity: Severity
  /** Lines, as `grep -c` counts them */
  count: number
  records: number
  /** Lines without a readable time */
  untimed: number
  first?: string
  last?: string
  /** For `lock-waiting`: when the lock was obtained after all, so that it is no problem */
  overBy?: string
  samples: readonly string[]
  /** Hosts, with the number of records that name each */
  hosts?: Readonly<Record<string, number>>
  /** Arguments of a queue or exchange as requested, and as they are */
  conflicts?: readonly ArgumentConflict[]
  /** What agents counted */
  agents?: readonly AgentCounts[]
  rate: { seconds: number; counts: readonly { at: string; lines: number }[] }
  /** The command that repairs it; null if it is repaired by hand, as `explain` tells */
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
 * Something about the log itself that limits the findings. `isGap` is true if something could not be determined because
 * of it.
 */
export interface ScanNote {
  kind: 'binary' | 'clock' | 'dates' | 'empty' | 'interrupted' | 'time-zone'
  message: string
  isGap: boolean
}

/** Returns the figures that the exit code is made from. */
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
