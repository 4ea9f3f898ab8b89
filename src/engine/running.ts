import type { Workshop } from '../actions/index.ts'
import type { Failpoint } from '../core/failpoint.ts'
import type { Plan } from '../core/plan.ts'
import type { RunEvent, RunLog } from '../core/run.ts'
import type { Guard } from './guard.ts'

/** What a run works with besides the deployment. */
export interface Running {
  plan: Plan
  /** what is on record already; empty for a new run */
  events: readonly RunEvent[]
  log: Pick<RunLog, 'append'>
  guard: Pick<Guard, 'assertHeld'>
  workshop: Omit<Workshop, 'failpoint' | 'journal'>
  /** user@host */
  by: string
  failpoint: Failpoint
  /** told as steps begin and end */
  onStep: (step: number, status: 'begun' | StepStatus) => void
}

/** `already`: it was so before, and nothing was done. */
export type StepStatus = 'done' | 'already' | 'failed' | 'undone'
