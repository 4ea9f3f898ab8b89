import type { LogPart } from '../core/sources.ts'
import type { RuleId } from '../knowledge/result-rules.ts'

export type ProblemSeverity = 'error' | 'warning'

/** Details of a test whose result has a problem. */
export interface TestOfResult {
  name?: string
  fullName?: string
  status?: string
}

/** One of several results that will be shown as one. */
export interface CollapsedResult extends TestOfResult {
  /** the directory as given */
  directory: string
  file: string
  /** milliseconds since 1970, as adapters write it */
  start?: number
}

/** The finding of a rule at one place. */
export interface Found {
  /** what is wrong there, with the values at fault; never a secret's value, never longer than a few lines */
  message: string
  /** the place in the file: `labels[3].value`, `steps[0].attachments[1].source`, `line 4, column 7 (byte 120)` */
  place?: string
  /**
   * what the service will do with it, and how to mend it in the test's code; present if the rule's own words are not
   * precise enough
   */
  effect?: string
  remedy?: string
  /** results that will be shown as one, the earliest first; a limited number */
  together?: readonly CollapsedResult[]
  /** total number of these, if not all are listed */
  togetherCount?: number
}

export interface Problem extends Found {
  rule: RuleId
  severity: ProblemSeverity
  /** the directory as given */
  directory: string
  /** path below the directory; empty: the directory itself. Bytes of names that are not UTF-8 appear as \xNN */
  file: string
  effect: string
  remedy: string
  result?: TestOfResult
}

export interface LintOptions {
  /** as given, each once (`distinctDirectories`); results of all are judged together, attachments within each */
  directories: readonly string[]
  /** directory of an earlier run; null if there is none */
  previous: string | null
  agentLogs: readonly LogPart[]
  /** severities of rules that differ from the default */
  severities: ReadonlyMap<RuleId, ProblemSeverity | 'off'>
  /** names of parameters and environment entries that may change */
  changing: readonly string[]
  signal?: AbortSignal
  /** called at most about ten times a second */
  progress?(done: number, total: number): void
}

/** A file or directory that could not be judged. */
export interface Undetermined {
  directory: string
  file: string
  message: string
}

export interface LintReport {
  directories: readonly { directory: string; files: number; results: number; bytes: number }[]
  /** exact, even if `problems` leaves some out */
  counts: ReadonlyMap<RuleId, Record<ProblemSeverity, number>>
  /**
   * worst first, then by rule in the catalogue's order, then by directory and file; at most `mostOfRule` of each rule
   */
  problems: readonly Problem[]
  undetermined: readonly Undetermined[]
  /** total number, even if the list is cut */
  undeterminedCount: number
}

/** Maximum problems of a rule that are kept; the rest are only counted. */
export const mostOfRule = 10_000
