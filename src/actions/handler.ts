import type { ActionKind, ActionOf, Definitions } from '../core/action.ts'
import type { ControlName, Controls, Moving } from '../core/controls.ts'
import type { Deployment } from '../core/deployment.ts'
import { AdminError } from '../core/error.ts'
import type { TreeAccount } from '../core/repair.ts'
import type { Secret } from '../core/secret.ts'
import type { Suggestion } from '../core/shell-command.ts'
import type { SourceName, Sources } from '../core/sources.ts'

/** What an action works with: the deployment's parts, opened on first use. */
export interface Workshop {
  deployment: Deployment
  open: { readonly [K in SourceName]: () => Promise<Sources[K]> }
  control: { readonly [K in ControlName]: () => Promise<Controls[K]> }
  /** Time for one answer, in milliseconds */
  timeoutMs: number
  /** Time for the service to start or stop, or for whatever else is waited for, in milliseconds */
  patienceMs: number
  /** Shows what the step waits for */
  progress: (message: string) => void
  /** Repeats a text in the final report: '12 messages moved back, with the same contents' */
  result: (text: string) => void
  /** Shows the progress of long work; may be called often */
  moving: (amount: Moving) => void
  signal: AbortSignal
  /** Secrets that were given to this process, by the names of their settings; a resumed run has none */
  given: ReadonlyMap<string, Secret>
  /** What the journal has on the current step */
  journal: StepJournal
  /** Names of the settings that the run sets */
  changed: readonly string[]
  /** What the run saved of the broker before its first change; null: nothing */
  saved: Definitions | null
  /** A point at which a test may kill the process; `name` is one of the handler's */
  failpoint: (name: string) => Promise<void>
  /** True if a test waits for a failpoint */
  isTested: boolean
}

/** What the journal knows of one step. */
interface StepJournal {
  /** True if the journal says that the step was performed; false if the deployment was already as wanted */
  performed: boolean
  /**
   * True if the step was done once and runs again, as when another machine adopts the run and the deployment does not
   * show the step as done
   */
  isRepeated: boolean
  /** Notes of this step, oldest first */
  notes: readonly string[]
  /** Notes of the whole run, also of this process, oldest first */
  ofRun(): readonly string[]
  /** Writes a note, and returns once it is on disk: for facts that must survive a kill */
  note(text: string): Promise<void>
  /**
   * Keeps a text in a file that only this user can read, beside the journal on this machine and in none of its copies;
   * false: it cannot be kept
   */
  keep(name: string, text: string): Promise<boolean>
  /** The kept text; null: none by that name on this machine */
  kept(name: string): Promise<string | null>
}

export interface Shortfall {
  message: string
  /** What to type next */
  suggestions: readonly Suggestion[]
  /** Text too long for a command: kept as a file beside the journal, whose name replaces `{file}` in the command */
  file?: { name: string; text: string; command: Suggestion }
}

/** What a deployment shows about one step. `untold`: neither that it was done nor that it was not. */
export type Shown = 'done' | 'not-done' | 'untold'

/** Carries out one kind of action. It depends on nothing else in the plan, so that any process can resume it. */
export interface ActionHandler<K extends ActionKind> {
  /** Points within `perform` at which a test kills the process; at least one */
  failpoints: readonly [string, ...string[]]
  /** Returns true if the deployment is already as `perform` would leave it */
  isDone(action: ActionOf<K>, workshop: Workshop): Promise<boolean>
  /**
   * Carries out the action; repeatable: finishes what was begun, and changes nothing if it is done. Throws REFUSED if
   * the deployment is not as the plan saw it
   */
  perform(action: ActionOf<K>, workshop: Workshop): Promise<void>
  /**
   * Returns whether the deployment shows a recorded step as done, if `isDone` cannot tell: a step that only looks, or
   * whose trace a later step removes. Absent: `isDone` tells. Changes nothing
   */
  standsAs?: (action: ActionOf<K>, workshop: Workshop) => Promise<Shown>
  /** Throws REFUSED if `perform` would; called before the service is stopped. Absent: cannot be foreseen */
  foresee?: (action: ActionOf<K>, workshop: Workshop) => Promise<void>
  /**
   * Throws FORBIDDEN if this user lacks a right that `perform` needs, as far as that can be asked without changing
   * anything. Absent: it cannot be asked
   */
  askRights?: (action: ActionOf<K>, workshop: Pick<Workshop, 'open' | 'control'>) => Promise<void>
  /**
   * Called when the run ends early, by an error or an interruption: brings to safety what would be lost with this
   * process
   */
  letGo?: (action: ActionOf<K>, workshop: Workshop) => Promise<void>
  /** Reverses `perform`, finished or not; harmless if nothing was done. Null: there is nothing to undo */
  undo: ((action: ActionOf<K>, workshop: Workshop) => Promise<void>) | null
  /** Throws REFUSED if `undo` certainly would; called before any step is undone. Absent: cannot be foreseen */
  foreseeUndo?: (action: ActionOf<K>, workshop: Workshop) => Promise<void>
  /** True if this action is undone at all; absent: it is */
  isTakenBack?(action: ActionOf<K>): boolean
  /** The result so far, for the document; `notes` of this step, oldest first */
  account?(action: ActionOf<K>, notes: readonly string[]): TreeAccount
  /** Why the repair failed although all its steps are over; null: it did not */
  shortfall?(action: ActionOf<K>, notes: readonly string[]): Shortfall | null
}

/**
 * True if the platform still counts this program as the owner of fields that it wrote, as after a kill. The owner of
 * the workload could not set them then.
 */
export async function ownsFields(workshop: Pick<Workshop, 'control'>): Promise<boolean> {
  try {
    return (await (await workshop.control.service()).ownsFields?.()) ?? false
  } catch (error) {
    // a program that can write nothing owns no fields
    if (error instanceof AdminError && ['NOT_CONFIGURED', 'UNAVAILABLE'].includes(error.code)) return false
    throw error
  }
}

/** Releases the fields that the platform still counts as this program's; harmless if there are none. */
export async function giveUpFields(workshop: Pick<Workshop, 'control'>): Promise<void> {
  try {
    await (await workshop.control.service()).giveUpFields?.()
  } catch (error) {
    if (!(error instanceof AdminError && ['NOT_CONFIGURED', 'UNAVAILABLE'].includes(error.code))) throw error
  }
}
