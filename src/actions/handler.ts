import type { ActionKind, ActionOf, Definitions } from '../core/action.ts'
import type { ControlName, Controls } from '../core/controls.ts'
import type { Deployment } from '../core/deployment.ts'
import type { Moving } from '../core/moving.ts'
import type { TreeAccount } from '../core/repair-document.ts'
import type { Secret } from '../core/secret.ts'
import type { SourceName, Sources } from '../core/sources.ts'
import type { Suggestion } from '../core/shell-command.ts'

/** What an action works with: the deployment's parts, opened on first use. */
export interface Workshop {
  deployment: Deployment
  open: { readonly [K in SourceName]: () => Promise<Sources[K]> }
  control: { readonly [K in ControlName]: () => Promise<Controls[K]> }
  /** for one answer */
  timeoutMs: number
  /** for the service to start, to stop, or to do what else is waited for, in milliseconds */
  patienceMs: number
  /** says what is waited for */
  progress: (message: string) => void
  /** what is told once more when the run is over: 'all messages back, contents compared' */
  result: (text: string) => void
  /** says how far a long work is; called as often as one likes */
  moving: (amount: Moving) => void
  signal: AbortSignal
  /** secrets that this process was told, by the names of their settings: whoever goes on with a run has none */
  given: ReadonlyMap<string, Secret>
  /** what is on record of the step that is worked on */
  journal: StepJournal
  /** names of the settings that the run sets */
  changed: readonly string[]
  /** what the run saved of the broker before its first change; null: nothing */
  saved: Definitions | null
  /** where a test may end the process; `name` is one of the handler's */
  failpoint: (name: string) => Promise<void>
  /** whether a test waits for such an instant */
  isTested: boolean
}

/** What the journal knows of one step. */
interface StepJournal {
  /** it was performed, and that is on record; one that was found to be so already was not */
  performed: boolean
  /**
   * the step was done once and runs again, as when another machine adopts the run and the deployment does not show that
   * it was done
   */
  isRepeated: boolean
  /** what was noted while it was performed, oldest first */
  notes: readonly string[]
  /** what was noted in all of the run, by this process too, oldest first */
  ofRun(): readonly string[]
  /** returns once it is on disk: for what has to be known should this process be killed the next instant */
  note(text: string): Promise<void>
  /**
   * keeps a text in a file of this user's alone, beside the journal of this machine and in no copy of it; false: it
   * cannot be kept
   */
  keep(name: string, text: string): Promise<boolean>
  /** null: nothing was kept by that name, or elsewhere */
  kept(name: string): Promise<string | null>
}

export interface Shortfall {
  message: string
  /** what to type next */
  suggestions: readonly Suggestion[]
  /**
   * what is too long for a command: kept as a file beside the journal, whose name takes the place of `{file}` in the
   * command that reads it
   */
  file?: { name: string; text: string; command: Suggestion }
}

/** What a deployment shows of one step. `untold`: neither that it was done nor that it was not. */
export type Shown = 'done' | 'not-done' | 'untold'

/** One kind of change. Nothing in it depends on what else the plan does, so that any process can go on with it. */
export interface ActionHandler<K extends ActionKind> {
  /** instants within `perform` at which a test kills the process; one at least */
  failpoints: readonly [string, ...string[]]
  /** whether the deployment is already as `perform` would leave it */
  isDone(action: ActionOf<K>, workshop: Workshop): Promise<boolean>
  /**
   * repeatable: finishes what was begun, changes nothing where it is done. Throws REFUSED where the deployment is not
   * as it was seen
   */
  perform(action: ActionOf<K>, workshop: Workshop): Promise<void>
  /**
   * what the deployment shows of a step that is on record as done, where `isDone` cannot tell that: a step that only
   * looks, or whose trace a later step removes. Absent: `isDone` tells. Changes nothing
   */
  standsAs?: (action: ActionOf<K>, workshop: Workshop) => Promise<Shown>
  /**
   * throws REFUSED where `perform` would; asked before the service is stopped for it. Absent: nothing can be told
   * beforehand
   */
  foresee?: (action: ActionOf<K>, workshop: Workshop) => Promise<void>
  /**
   * asked where the run ends early, by an error or an interruption: brings to safety what would go with this process
   */
  letGo?: (action: ActionOf<K>, workshop: Workshop) => Promise<void>
  /**
   * takes back what `perform` did, whole or in part; harmless where nothing was done. Null: there is nothing to take
   * back
   */
  undo: ((action: ActionOf<K>, workshop: Workshop) => Promise<void>) | null
  /**
   * throws REFUSED where `undo` would for certain; asked before any step of the run is taken back. Absent: nothing can
   * be told beforehand
   */
  foreseeUndo?: (action: ActionOf<K>, workshop: Workshop) => Promise<void>
  /** whether an action of this kind is taken back at all; absent: each is */
  isTakenBack?(action: ActionOf<K>): boolean
  /** what it has come to so far, for the document; `notes` of this step, oldest first */
  account?(action: ActionOf<K>, notes: readonly string[]): TreeAccount
  /** why the repair has failed although it came to its end, and nothing of it is left to do; null: it has not */
  shortfall?(action: ActionOf<K>, notes: readonly string[]): Shortfall | null
}
