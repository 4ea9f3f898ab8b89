import type { Plan } from './plan.ts'
import type { RepairOutcome, RunError } from './run.ts'

/** A call that the service did not accept (DESIGN.md 4). */
export interface FailedItem {
  project: number
  /** Absent: the call was for all trees of the project */
  tree?: number
  /** HTTP status; 0: there was no answer */
  status: number
  message: string
}

/** The results of the calls of `migrate-trees`. */
export interface TreeAccount {
  requested: number
  /** Number of accepted calls; a call is accepted before its trees are done */
  accepted: number
  /** Number of items not asked for, or not answered, since the run ended before */
  skipped: number
  failed: readonly FailedItem[]
}

/** What a repair prints under --json once it has a plan (DESIGN.md 4). */
export interface RepairDocument extends Partial<TreeAccount> {
  schemaVersion: 1
  /** Name of the run; null: nothing was begun */
  run: string | null
  /** Hash of the plan, by which `apply` sees whether a saved plan is whole */
  hash: string
  plan: Plan
  /** Steps by their place in the plan, from 0; `results`: the results of a step, for people */
  applied: readonly {
    step: number
    status: 'done' | 'already' | 'failed' | 'undone'
    durationMs: number
    results?: readonly string[]
  }[]
  /** Each check with its status; a problem with its severity */
  verification: Readonly<Record<string, string>>
  /** Why a check could not judge, or what it found */
  reasons?: Readonly<Record<string, string>>
  outcome: RepairOutcome
  error?: RunError
}
