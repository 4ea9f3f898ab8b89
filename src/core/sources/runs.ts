import type { Holder } from '../lock.ts'
import type { RunHistory, UnreadableRun } from '../run.ts'
import type { RunState } from '../run-summary.ts'

/** The journals of repairs that this machine keeps of the deployment. */
export interface RunsSource {
  /** their folder */
  readonly target: string
  /** oldest first; a journal that cannot be read throws UNEXPECTED_ANSWER */
  list(): Promise<readonly RunState[]>
  /**
   * what the deployment keeps of runs, where others may write: that one is over is their word, too. Throws as the
   * deployment does
   */
  inDeployment(): Promise<readonly (RunHistory | UnreadableRun)[]>
  /** who repairs this deployment now, as far as this machine knows; null: nobody */
  operator(): Promise<Holder | null>
}
