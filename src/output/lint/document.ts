import type { RuleId } from '../../knowledge/result-rules.ts'

export type LintSeverity = 'error' | 'warning'

/** What `lint-results --json` prints (DESIGN.md 4), and more. */
export interface LintDocument {
  schemaVersion: 1
  /** As given; the nearest common parent of several */
  directory: string
  /** The settings file that was used */
  settings?: string
  files: number
  results: number
  bytes: number
  /** Exact, even if `problems` omits some */
  summary: Record<LintSeverity, number> & { suppressed: number }
  /** Without the rules that found no problem */
  rules: Readonly<Partial<Record<RuleId, Record<LintSeverity, number>>>>
  /** Rules that are turned off */
  off: readonly RuleId[]
  directories: readonly LintedDirectory[]
  /** The worst first; at most 10,000 of each rule */
  problems: readonly LintProblem[]
  /** Problems that the settings ignore, which count nowhere else */
  suppressed: readonly SuppressedRule[]
  /** Files that could not be judged */
  undetermined: readonly { file: string; message: string }[]
  undeterminedCount: number
  /** What `--fix` did; then all else is about the corrected copy */
  fix?: LintFix
}

export interface LintedDirectory {
  /** As given */
  directory: string
  /** Relative to the document's directory; `.` is that directory */
  within: string
  files: number
  results: number
  bytes: number
}

/** A rule that the settings ignore, and what it found. */
interface SuppressedRule {
  rule: RuleId
  reason: string
  /** Last day on which it is ignored, in UTC: 2027-01-31 */
  until: string
  /** Exact, even if `problems` omits some */
  count: number
  problems: readonly LintProblem[]
}

export interface LintProblem {
  rule: RuleId
  severity: LintSeverity
  /** Relative to the document's directory; `.` is the directory itself */
  file: string
  /** The place in the file */
  place?: string
  message: string
  /** What the service will do with it */
  effect: string
  /** How to fix it in the test's code */
  remedy: string
  result?: { name?: string; fullName?: string; status?: string }
  /** Results that will be shown as one, the earliest first */
  together?: readonly LintedTogether[]
  /** Number of all such results */
  togetherCount?: number
}

export interface LintedTogether {
  file: string
  name?: string
  fullName?: string
  status?: string
  /** Milliseconds since 1970 */
  start?: number
}

export interface LintFix {
  /** The original, which stays unchanged */
  from: string
  output: string
  /** Files copied, changed or not */
  files: number
  /** Number of places fixed, by rule */
  mended: Readonly<Partial<Record<RuleId, number>>>
  /** Places to fix that were not fixed, and why; at most 1,000 */
  left: readonly { rule: RuleId; file: string; place?: string; message: string }[]
  leftCount: number
  /** What is not in the copy, and why */
  omitted: readonly { file: string; message: string }[]
}
