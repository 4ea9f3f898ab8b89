import type { Holder } from '../lock.ts'
import type { RunHistory, UnreadableRun } from '../run.ts'
import type { RunState } from '../run-summary.ts'

/** The journals of the deployment's repairs that this machine keeps. */
export interface RunsSource {
  /** Their folder */
  readonly target: string
  /** Returns the runs, oldest first; throws UNEXPECTED_ANSWER for a journal that cannot be read */
  list(): Promise<readonly RunState[]>
  /**
   * Returns the runs that the deployment keeps. Others may write there: even that a run is over is only their word.
   * Throws as the deployment does
   */
  inDeployment(): Promise<readonly (RunHistory | UnreadableRun)[]>
  /** Returns who repairs this deployment now, as far as this machine knows; null: nobody */
  operator(): Promise<Holder | null>
}
