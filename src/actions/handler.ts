import type { ActionKind, ActionOf } from '../core/action.ts'
import type { ControlName, Controls } from '../core/controls.ts'
import type { Deployment } from '../core/deployment.ts'
import type { SourceName, Sources } from '../core/sources.ts'

/** What an action works with: the deployment's parts, opened on first use. */
export interface Workshop {
  deployment: Deployment
  open: { readonly [K in SourceName]: () => Promise<Sources[K]> }
  control: { readonly [K in ControlName]: () => Promise<Controls[K]> }
  /** for one answer */
  timeoutMs: number
  /** for the service to start or to stop, in milliseconds */
  patienceMs: number
  /** says what is waited for */
  progress: (message: string) => void
  signal: AbortSignal
  /** where a test may end the process; `name` is one of the handler's */
  failpoint: (name: string) => Promise<void>
}

/** One kind of change. Nothing in it depends on what else the plan does, so that any process can go on with it. */
export interface ActionHandler<K extends ActionKind> {
  /** instants within `perform` at which a test kills the process; one at least */
  failpoints: readonly [string, ...string[]]
  /** whether the deployment is already as `perform` would leave it */
  isDone(action: ActionOf<K>, workshop: Workshop): Promise<boolean>
  /** repeatable: finishes what was begun, changes nothing where it is done. Throws REFUSED where the deployment is not as it was seen */
  perform(action: ActionOf<K>, workshop: Workshop): Promise<void>
  /** takes back what `perform` did, whole or in part; harmless where nothing was done. Null: there is nothing to take back */
  undo: ((action: ActionOf<K>, workshop: Workshop) => Promise<void>) | null
}
