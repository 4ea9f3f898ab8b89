import type { LogPart } from '../core/sources.ts'
import type { RuleId } from '../knowledge/result-rules.ts'
import type { Problem, ProblemSeverity } from './problem.ts'

export interface LintOptions {
  /**
   * as they were given, each once (`distinctDirectories`); results of all are judged together, attachments within each
   */
  directories: readonly string[]
  /** the directory of an earlier run; null: there is none */
  previous: string | null
  agentLogs: readonly LogPart[]
  /** of rules that are judged otherwise than by default */
  severities: ReadonlyMap<RuleId, ProblemSeverity | 'off'>
  /** names of parameters and environment entries that may change */
  changing: readonly string[]
  signal?: AbortSignal
  /** called now and then, at most some ten times a second */
  progress?(done: number, total: number): void
}

/** A file or directory of which nothing could be told. */
export interface Undetermined {
  directory: string
  file: string
  message: string
}

export interface LintReport {
  directories: readonly { directory: string; files: number; results: number; bytes: number }[]
  /** exact, also where `problems` leaves some out */
  counts: ReadonlyMap<RuleId, Record<ProblemSeverity, number>>
  /**
   * worst first, then by rule in the catalogue's order, then by directory and file; at most `mostOfRule` of each rule
   */
  problems: readonly Problem[]
  undetermined: readonly Undetermined[]
  /** how many there are, also where the list is cut */
  undeterminedCount: number
}

/** So many problems of a rule are kept; of the rest only the number. */
export const mostOfRule = 10_000
