import type { Wanted } from './check.ts'
import type { Deployment } from './deployment.ts'
import type { Plan, RepairId } from './plan.ts'
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
