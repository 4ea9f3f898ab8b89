import type { RuleId } from '../knowledge/result-rules.ts'
import type { Found } from './problem.ts'
import type { ResultFile } from './result-file.ts'

/**
 * A rule that looks at one result at a time. It is called for each of a million files: what is right is answered
 * without making anything. `changing`: names of parameters that may change; `hadBefore`: whether a pair of a parameter
 * (`parameterPairs`) and its value was there in an earlier run.
 */
export interface FileRule {
  id: RuleId
  judge(file: ResultFile, changing: ReadonlySet<string>, hadBefore?: (pair: string) => boolean): readonly Found[]
}

/**
 * A rule that looks at all results that the service will show as one: those with one full name and equal, or no,
 * parameters.
 */
export interface GroupRule {
  id: RuleId
  /**
   * `group`: two or more, the earliest first, without steps, attachments and details; null: as it should be.
   * `Found.together` is filled in by the caller.
   */
  judge(group: readonly ResultFile[]): Found | null
}
