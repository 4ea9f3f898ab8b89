import type { LogPart } from '../core/sources.ts'
import type { RuleId } from '../knowledge/result-rules.ts'
import type { Problem, ProblemSeverity } from './problem.ts'

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
