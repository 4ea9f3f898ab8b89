import type { ShellCommand } from '../shell-command.ts'
import type { Values, WantedValue } from '../values.ts'

/**
 * The Helm release that the service is part of, as Helm records it. Values may be secrets: only their paths are ever
 * shown. Each method throws UNAVAILABLE if helm is missing or too old, or if there is no such release; UNREACHABLE,
 * FORBIDDEN, TIMED_OUT, INTERRUPTED, UNEXPECTED_ANSWER.
 */
export interface ReleaseSource {
  /** `release testops in namespace testops`, for people */
  readonly target: string
  /** Returns a helm command for it, as it is typed: its verb, then what follows the release's name */
  helm(verb: string, ...words: string[]): ShellCommand
  /** Returns the newest revision */
  latest(): Promise<ReleaseRevision>
  /** Returns a revision; null: Helm does not record it, or no longer */
  revision(number: number): Promise<ReleaseRevision | null>
  /**
   * Returns what an upgrade would record. Throws UNAVAILABLE, UNREACHABLE if the chart is unavailable, REFUSED if it
   * makes nothing of these values
   */
  trial(upgrade: ReleaseUpgrade): Promise<Pick<ReleaseRevision, 'chart' | 'values'>>
  /**
   * Returns fields that others own and that helm would set to other values, for which the API server would refuse it.
   * `next`: an upgrade with these values above those of its files, or the revision of a rollback. Asks the API server
   * by a dry run, which changes nothing; leaves out what that does not tell
   */
  conflicts(
    next: (ReleaseUpgrade & { values: readonly WantedValue[] }) | { revision: number },
  ): Promise<readonly FieldConflict[]>
}

export interface FieldConflict {
  /** `deployments/testops-testops` */
  object: string
  /** `.spec.replicas` */
  field: string
  /** Who owns it, as the API server names it: `kubectl-set` */
  manager: string
  /** The command that shows it */
  shown: ShellCommand
}

export interface ReleaseRevision {
  revision: number
  /** `deployed`, `superseded`, `failed`, `pending-upgrade`, … */
  status: string
  /** What Helm notes about it: 'Upgrade complete' */
  description: string
  /** ISO 8601 */
  updatedAt: string
  chart: ReleaseChart
  /** Values given by files and by --set, merged; without the chart's own */
  values: Values
}

export interface ReleaseChart {
  name: string
  version: string
}

export interface ReleaseUpgrade {
  /** A folder or an archive, as an absolute path; REPOSITORY/NAME; an address */
  chart: string
  chartVersion: string
  /** Files of values, absolute, in Helm's order: the later wins */
  files: readonly string[]
}
