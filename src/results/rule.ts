import type { RuleId } from '../knowledge/result-rules.ts'
import type { Found } from './problem.ts'
import type { ResultFile } from './result-file.ts'

/**
 * A rule that looks at one result at a time. It runs for each of a million files, so it allocates nothing for a correct
 * one. `changing`: names of parameters that may change; `hadBefore`: true if an earlier run had that pair of a
 * parameter (`parameterPairs`) and its value.
 */
export interface FileRule {
  id: RuleId
  judge(file: ResultFile, changing: ReadonlySet<string>, hadBefore?: (pair: string) => boolean): readonly Found[]
}

/**
 * A rule that looks at all results that the service will show as one: those with the same full name and equal, or no,
 * parameters.
 */
export interface GroupRule {
  id: RuleId
  /**
   * `group`: two or more results, the earliest first, without steps, attachments and details. Returns null if nothing
   * is wrong. The caller fills in `Found.together`.
   */
  judge(group: readonly ResultFile[]): Found | null
}
