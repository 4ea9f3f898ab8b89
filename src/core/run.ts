import { randomBytes } from 'node:crypto'
import type { ErrorCode } from './error.ts'
import { AdminError } from './error.ts'
import { harmless } from './harmless.ts'
import type { Plan } from './plan.ts'
import type { Suggestion } from './shell-command.ts'

/** How a run can end. */
export type RunOutcome = 'done' | 'failed' | 'refused' | 'interrupted'

/** How a repair can end (DESIGN.md 4). */
export type RepairOutcome = RunOutcome | 'planned' | 'nothing-to-do'

/** A failure as journals and documents record it: without secrets, since messages have none. */
export interface RunError {
  code: ErrorCode | 'BUG'
  message: string
  suggestions: readonly Suggestion[]
}

/** The head of a journal: what is going to be done, by whom, and since when. Written before anything changes. */
export interface RunRecord {
  schemaVersion: 1
  run: string
  /** Version of the program that began it */
  program: string
  /** user@host */
  by: string
  /** ISO 8601 */
  startedAt: string
  plan: Plan
  acceptedRisks: readonly string[]
  /** What runs the service, if its platform names it; absent in older records */
  workload?: WorkloadIdentity
}

/** The workload that runs the service in a cluster, whatever the deployment's name here. */
export interface WorkloadIdentity {
  kind: string
  namespace: string
  name: string
  /** Another id means that it was deleted and recreated */
  uid?: string
}

/** One line of a journal. `at` is ISO 8601; steps are counted from 0. */
export type RunEvent = {
  at: string
  by: string
} /** the deployment keeps a copy of this journal from here on, until the run is over */ & (
  | { event: 'copied' }
  | { event: 'intent'; step: number }
  /** What a handler needs later, if the run is killed within the step or its undo (`StepJournal`) */
  | { event: 'noted'; step: number; note: string }
  | { event: 'done'; step: number; durationMs: number; already?: true }
  | { event: 'failed'; step: number; error: RunError }
  | { event: 'undo-intent'; step: number }
  | { event: 'undone'; step: number }
  | { event: 'undo-failed'; step: number; error: RunError }
  /**
   * The step is performed again, whatever the record says of it. What it says since event `since`, counted from 0, is
   * the word of others and no longer counts
   */
  | { event: 'redo'; step: number; since: number }
  | { event: 'ended'; outcome: RunOutcome | 'undone'; verification?: Readonly<Record<string, string>> }
)

/** The record and the events of one run. */
export interface RunHistory {
  record: RunRecord
  events: readonly RunEvent[]
}

export interface UnreadableRun {
  run: string
  /** Why it is unreadable */
  unreadable: string
  /** Set if it is empty: the run was stopped before it wrote, and so before it changed anything */
  isEmpty?: true
}

/** The journal of one run that is under way. */
export interface RunLog {
  /**
   * Appends all of them or, if it is stopped meanwhile, the first ones; returns once they are on disk. Throws
   * UNAVAILABLE if they cannot be written
   */
  append(...events: readonly RunEvent[]): Promise<void>
  close(): Promise<void>
}

/** The journals of one deployment in one place. */
export interface RunStore {
  /** For people: a folder, or a part of the deployment */
  readonly where: string
  /** Begins a journal; `events`: those already recorded. Throws UNAVAILABLE if nothing can be written, FORBIDDEN. */
  begin(record: RunRecord, events?: readonly RunEvent[]): Promise<RunLog>
  /** Continues what `begin` began; throws USAGE if there is no such run, UNEXPECTED_ANSWER if it is unreadable */
  reopen(run: string): Promise<RunLog>
  /** Throws as `reopen`, and REFUSED if the run was stopped before its record was written */
  read(run: string): Promise<RunHistory>
  /** Lists the runs, oldest first; reports an unreadable one in place of its history */
  list(): Promise<readonly (RunHistory | UnreadableRun)[]>
  /**
   * Returns why a part of this place cannot be seen now, so that it may hold runs that are not listed; null: all was
   * seen. Absent: the place has only one part
   */
  unseen?(): Promise<AdminError | null>
  /** Lists what lies among this machine's journals but is not named after a run; reads nothing of it */
  strangers?(): Promise<readonly UnreadableRun[]>
  /** Keeps a text beside a journal, on this machine alone, and returns where; throws UNAVAILABLE */
  keep?(run: string, name: string, text: string): Promise<string>
  /** Returns what `keep` kept; null: nothing, or not on this machine */
  keptText?(run: string, name: string): Promise<string | null>
  /**
   * Removes a record of the deployment, whatever it holds, once each of its lines was saved. Throws as `reopen`, and
   * what `save` throws
   */
  discard?(run: string, save: (line: string) => Promise<void>): Promise<void>
  /** Begins a file beside the journals that only this user can read, for lines of others; throws UNAVAILABLE */
  keepForeign?(
    run: string,
  ): Promise<{ file: string; append: (line: string) => Promise<void>; close: () => Promise<void> }>
  /** Removes a journal: for good if this place keeps only unfinished runs, else by renaming it */
  remove(run: string): Promise<void>
}

/** Where the journals of one deployment are kept. */
export interface Journals {
  /** On this machine */
  here: RunStore
  /** In the deployment itself; throws if it has no place for them */
  there: () => Promise<RunStore>
}

/** The form of a run's name: its start, its repair, and four characters that tell two runs of one second apart. */
const form = /^\d{8}T\d{6}Z-[a-z]+(?:-[a-z]+)*-[0-9a-f]{4}$/
/** Maximum length in characters, far more than the longest name of a repair makes */
const longest = 80

/**
 * Returns true if a text has the form of a run's name: it is safe as the name of a file, and as a word of a command.
 */
export function isRunName(text: string): boolean {
  return text.length <= longest && form.test(text)
}

/** Throws USAGE if a text is not the name of a run, before anything is searched for by it. */
export function assertRunName(text: string): void {
  if (isRunName(text)) return
  const shown = harmless(text.length > longest ? `${text.slice(0, longest)}…` : text)
  throw new AdminError(
    'USAGE',
    `\`${shown}\` is not the name of a run. Example of a name: 20261121T021244Z-unlock-changelog-1f3a`,
    ['testops-admin history'],
  )
}

/** Returns a new name for a run of that repair that began at `startedAt` (ISO 8601). */
export function newRunName(repair: string, startedAt: string): string {
  return `${startedAt.replaceAll(/[-:]|\.\d+/g, '')}-${repair}-${randomBytes(2).toString('hex')}`
}
