import type { Workshop } from '../actions/index.ts'
import type { Failpoint } from '../core/failpoint.ts'
import type { Plan } from '../core/plan.ts'
import type { RunEvent } from '../core/run.ts'
import type { Guard } from './guard.ts'
import type { RunJournal } from './journal.ts'

/** Events that are known from the deployment alone (`Standing.foreign`). */
export interface Foreign {
  /** so many, the last ones */
  events: number
  /** this machine has nothing of its own on record of the run */
  isAdopted: boolean
}

/** What a run works with besides the deployment. */
export interface Running {
  plan: Plan
  /** what is on record already; empty for a new run */
  events: readonly RunEvent[]
  /** what of the events others have written, as far as this machine knows */
  foreign?: Foreign
  log: Pick<RunJournal, 'append' | 'written' | 'keep' | 'kept'>
  guard: Pick<Guard, 'assertHeld'>
  workshop: Omit<Workshop, 'failpoint' | 'journal' | 'result' | 'saved' | 'changed'>
  /** user@host */
  by: string
  failpoint: Failpoint
  /**
   * told as steps begin, or begin to be taken back, and end; `interrupted`: it was stopped, and did not fail by itself
   * (a document counts it as failed)
   */
  onStep: (step: number, status: 'begun' | 'going-back' | 'interrupted' | StepStatus) => void
}

/** `already`: it was so before, and nothing was done. */
export type StepStatus = 'done' | 'already' | 'failed' | 'undone'
