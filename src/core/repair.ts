import type { Wanted } from './check.ts'
import type { Deployment } from './deployment.ts'
import type { Plan, RepairId } from './plan.ts'
import type { SourceName, Sources } from './sources.ts'

/** What a repair says of its plan; the engine adds whose it is. */
type PlanDraft = Omit<Plan, 'repair' | 'deployment' | 'options' | 'expectedMs'>

/** Reads sources and makes a plan. Never prints, writes or performs. */
export interface Repair<
  R extends SourceName = SourceName,
  W extends SourceName = SourceName,
  O extends object = object,
> {
  id: RepairId
  /** the imperative: 'release the change-log lock' */
  title: string
  reads: readonly R[]
  /** sources that sharpen the plan: it gets the source, or the error that opening it gave */
  wants: readonly W[]
  /** throws AdminError where no plan can be made */
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
