import type { Workshop } from '../actions/index.ts'
import type { Failpoint } from '../core/failpoint.ts'
import type { Plan } from '../core/plan.ts'
import type { RunEvent } from '../core/run.ts'
import type { Guard } from './guard.ts'
import type { RunJournal } from './journal.ts'

/** What a run works with besides the deployment. */
export interface Running {
  plan: Plan
  /** what is on record already; empty for a new run */
  events: readonly RunEvent[]
  log: Pick<RunJournal, 'append' | 'written' | 'keep' | 'kept'>
  guard: Pick<Guard, 'assertHeld'>
  workshop: Omit<Workshop, 'failpoint' | 'journal' | 'result'>
  /** user@host */
  by: string
  failpoint: Failpoint
  /** told as steps begin, or begin to be taken back, and end; `interrupted`: it was stopped, and did not fail by itself (a document counts it as failed) */
  onStep: (step: number, status: 'begun' | 'going-back' | 'interrupted' | StepStatus) => void
}

/** `already`: it was so before, and nothing was done. */
export type StepStatus = 'done' | 'already' | 'failed' | 'undone'
