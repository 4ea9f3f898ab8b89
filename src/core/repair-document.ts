import type { Plan } from './plan.ts'
import type { RepairOutcome, RunError } from './run.ts'

/** A call that the service did not take (DESIGN.md 4). */
export interface FailedItem {
  project: number
  /** absent: all trees of the project were asked for */
  tree?: number
  /** of HTTP; 0: there was no answer */
  status: number
  message: string
}

/** What came of the calls of `migrate-trees`. */
export interface TreeAccount {
  requested: number
  /** a call is accepted before its trees are done */
  accepted: number
  /** was not asked for, or not answered, since the run ended before */
  skipped: number
  failed: readonly FailedItem[]
}

/** What a repair prints under --json once it has a plan (DESIGN.md 4). */
export interface RepairDocument extends Partial<TreeAccount> {
  schemaVersion: 1
  /** null: nothing was begun */
  run: string | null
  /** of the plan, so that `apply` sees whether a saved one is whole */
  hash: string
  plan: Plan
  /** steps by their place in the plan, from 0; `results`: what one has come to, for people */
  applied: readonly {
    step: number
    status: 'done' | 'already' | 'failed' | 'undone'
    durationMs: number
    results?: readonly string[]
  }[]
  /** each check by its status; a problem by its severity */
  verification: Readonly<Record<string, string>>
  /** why a check could not judge, or what it found */
  reasons?: Readonly<Record<string, string>>
  outcome: RepairOutcome
  error?: RunError
}
