import type { AdminError, ErrorCode } from './error.ts'
import type { Plan } from './plan.ts'
import type { Suggestion } from './shell-command.ts'

/** How a run can end. */
export type RunOutcome = 'done' | 'failed' | 'refused' | 'interrupted'

/** How a repair can end (DESIGN.md 4). */
export type RepairOutcome = RunOutcome | 'planned' | 'nothing-to-do'

/** A failure as journals and documents keep it: without secrets, since messages have none. */
export interface RunError {
  code: ErrorCode | 'BUG'
  message: string
  suggestions: readonly Suggestion[]
}

/** The head of a journal: what was going to be done, by whom, and since when. Written before anything is changed. */
export interface RunRecord {
  schemaVersion: 1
  run: string
  /** version of the program that began it */
  program: string
  /** user@host */
  by: string
  /** ISO 8601 */
  startedAt: string
  plan: Plan
  acceptedRisks: readonly string[]
  /** what runs the service, where its platform knows that by name; absent in older records */
  workload?: WorkloadIdentity
}

/** What runs the service in a cluster, whatever the deployment is called here. */
export interface WorkloadIdentity {
  kind: string
  namespace: string
  name: string
  /** another one: it was deleted, and made again */
  uid?: string
}

/** One line of a journal. `at` is ISO 8601; steps are counted from 0. */
export type RunEvent = {
  at: string
  by: string
} /** the deployment keeps a copy of this journal from here on, until the run is over */ & (
  | { event: 'copied' }
  | { event: 'intent'; step: number }
  /** what a handler has to know later, should the run be killed within the step or its undoing (`StepJournal`) */
  | { event: 'noted'; step: number; note: string }
  | { event: 'done'; step: number; durationMs: number; already?: true }
  | { event: 'failed'; step: number; error: RunError }
  | { event: 'undo-intent'; step: number }
  | { event: 'undone'; step: number }
  | { event: 'undo-failed'; step: number; error: RunError }
  /**
   * the step is performed again, whatever the record says of it; what it says from event `since` on, counted from 0, is
   * the word of others and counts no more
   */
  | { event: 'redo'; step: number; since: number }
  | { event: 'ended'; outcome: RunOutcome | 'undone'; verification?: Readonly<Record<string, string>> }
)

/** What is on record of one run. */
export interface RunHistory {
  record: RunRecord
  events: readonly RunEvent[]
}

export interface UnreadableRun {
  run: string
  /** why */
  unreadable: string
  /** nothing is in it: the run was stopped before it wrote, and so before it changed anything */
  isEmpty?: true
}

/** The journal of one run that is going on. */
export interface RunLog {
  /**
   * all of them or, where it is stopped meanwhile, the first ones; returns once they are on disk; throws UNAVAILABLE
   * where they cannot be written
   */
  append(...events: readonly RunEvent[]): Promise<void>
  close(): Promise<void>
}

/** The journals of one deployment in one place. */
export interface RunStore {
  /** for people: a folder, or a part of the deployment */
  readonly where: string
  /** `events`: what is on record already. Throws UNAVAILABLE where nothing can be written, FORBIDDEN. */
  begin(record: RunRecord, events?: readonly RunEvent[]): Promise<RunLog>
  /**
   * goes on with what `begin` began; throws USAGE where there is no such run, UNEXPECTED_ANSWER where it cannot be read
   */
  reopen(run: string): Promise<RunLog>
  /** throws as `reopen`, and REFUSED where it was begun and stopped before its record was there */
  read(run: string): Promise<RunHistory>
  /** oldest first; what cannot be read is told in place of its history */
  list(): Promise<readonly (RunHistory | UnreadableRun)[]>
  /**
   * why a part of this place cannot be looked into now, so that a run that is not listed may be there; null: all of it
   * was seen. Absent: it is one
   */
  unseen?(): Promise<AdminError | null>
  /** what lies among the journals of this machine, and is not named after a run: nothing is read of it */
  strangers?(): Promise<readonly UnreadableRun[]>
  /** keeps a text beside a journal, on this machine alone, and gives where; throws UNAVAILABLE */
  keep?(run: string, name: string, text: string): Promise<string>
  /** what was kept so; null: nothing, or not on this machine */
  keptText?(run: string, name: string): Promise<string | null>
  /**
   * removes a record of the deployment, whatever it holds, once each of its lines was saved. Throws as `reopen`, and
   * what `save` throws
   */
  discard?(run: string, save: (line: string) => Promise<void>): Promise<void>
  /** begins a file of this user's alone beside the journals, in which lines of others are kept; throws UNAVAILABLE */
  keepForeign?(
    run: string,
  ): Promise<{ file: string; append: (line: string) => Promise<void>; close: () => Promise<void> }>
  /** takes a journal out of the way: for good where only what is not finished is kept, else by another name */
  remove(run: string): Promise<void>
}

/** Where the journals of one deployment are kept. */
export interface Journals {
  /** on this machine */
  here: RunStore
  /** in the deployment itself; throws where it has no place for them */
  there: () => Promise<RunStore>
}
