import type { RuleId } from '../knowledge/result-rules.ts'

export type ProblemSeverity = 'error' | 'warning'

/** What is said of a test whose result has a problem. */
export interface TestOfResult {
  name?: string
  fullName?: string
  status?: string
}

/** One result among those that will be shown as one. */
export interface CollapsedResult extends TestOfResult {
  /** as it was given */
  directory: string
  file: string
  /** milliseconds since 1970, as adapters write it */
  start?: number
}

/** What a rule says of one place. */
export interface Found {
  /** what is wrong there, with the values at fault; never a secret's value, never longer than a few lines */
  message: string
  /** the place in the file: `labels[3].value`, `steps[0].attachments[1].source`, `line 4, column 7 (byte 120)` */
  place?: string
  /**
   * where the rule's own words are not precise enough: what the service will do with it, and how it is mended in the
   * test's code
   */
  effect?: string
  remedy?: string
  /** results that will be shown as one, the earliest first; bounded */
  together?: readonly CollapsedResult[]
  /** how many these are in all, where not all are listed */
  togetherCount?: number
}

export interface Problem extends Found {
  rule: RuleId
  severity: ProblemSeverity
  /** as it was given */
  directory: string
  /** its path below the directory; empty: the directory itself. With names that are not UTF-8, their bytes as \xNN */
  file: string
  effect: string
  remedy: string
  result?: TestOfResult
}
