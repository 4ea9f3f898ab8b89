import type { Wanted } from './check.ts'
import type { Deployment } from './deployment.ts'
import type { Plan, RepairId } from './plan.ts'
import type { RepairOutcome, RunError } from './run.ts'
import type { SourceName, Sources } from './sources.ts'

/** A repair's part of its plan; the engine adds the rest. */
type PlanDraft = Omit<Plan, 'repair' | 'deployment' | 'options' | 'expectedMs'>

/** Reads sources and makes a plan. Never prints, writes or applies. */
export interface Repair<
  R extends SourceName = SourceName,
  W extends SourceName = SourceName,
  O extends object = object,
> {
  id: RepairId
  /** The imperative: 'release the change-log lock' */
  title: string
  reads: readonly R[]
  /** Sources that sharpen the plan but are not required: it gets the source, or the error from opening it */
  wants: readonly W[]
  /** Makes a plan; throws AdminError if it cannot */
  plan(
    sources: Pick<Sources, R> & { [K in W]: Wanted<Sources[K]> },
    deployment: Deployment,
    options: O,
  ): Promise<PlanDraft>
}

/** Keeps the literal source names of a repair, so that reading another source does not compile. */
export function defineRepair<const R extends SourceName, const W extends SourceName, O extends object>(
  repair: Repair<R, W, O>,
): Repair<R, W, O> {
  return repair
}

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
