import type { RuleId } from '../../knowledge/result-rules.ts'

export type LintSeverity = 'error' | 'warning'

/** What `lint-results --json` prints (DESIGN.md 4), and more. */
export interface LintDocument {
  schemaVersion: 1
  /** as it was given; of several their nearest common parent */
  directory: string
  /** the file of settings that was used */
  settings?: string
  files: number
  results: number
  bytes: number
  /** exact, also where `problems` leaves some out */
  summary: Record<LintSeverity, number>
  /** rules without a problem are left out */
  rules: Readonly<Partial<Record<RuleId, Record<LintSeverity, number>>>>
  /** rules that were turned off */
  off: readonly RuleId[]
  directories: readonly LintedDirectory[]
  /** the worst first; of a rule at most 10,000 */
  problems: readonly LintProblem[]
  /** of what nothing could be told */
  undetermined: readonly { file: string; message: string }[]
  undeterminedCount: number
  /** what `--fix` has done; all else is of the mended copy then */
  fix?: LintFix
}

export interface LintedDirectory {
  /** as it was given */
  directory: string
  /** relative to the document's directory; `.`: it is that one */
  within: string
  files: number
  results: number
  bytes: number
}

export interface LintProblem {
  rule: RuleId
  severity: LintSeverity
  /** relative to the document's directory; `.`: the directory itself */
  file: string
  /** the place in the file */
  place?: string
  message: string
  /** what the service will do with it */
  effect: string
  /** how it is mended in the test's code */
  remedy: string
  result?: { name?: string; fullName?: string; status?: string }
  /** results that will be shown as one, the earliest first */
  together?: readonly LintedTogether[]
  /** how many these are in all */
  togetherCount?: number
}

export interface LintedTogether {
  file: string
  name?: string
  fullName?: string
  status?: string
  /** milliseconds since 1970 */
  start?: number
}

export interface LintFix {
  /** the original, which is as it was */
  from: string
  output: string
  /** that were copied, whether or not they were changed */
  files: number
  /** so many places were mended, by rule */
  mended: Readonly<Partial<Record<RuleId, number>>>
  /** places that would have been mended, and why they were not; at most 1,000 */
  left: readonly { rule: RuleId; file: string; place?: string; message: string }[]
  leftCount: number
  /** what is not in the copy, and why */
  omitted: readonly { file: string; message: string }[]
}
