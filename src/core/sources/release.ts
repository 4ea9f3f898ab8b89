import type { ShellCommand } from '../shell-command.ts'
import type { Values, WantedValue } from '../values.ts'

/**
 * The release of Helm that the service is part of, as Helm has it on record. Values may be secrets: only their paths
 * are ever shown. Each method throws UNAVAILABLE where helm is missing or too old, or there is no such release;
 * UNREACHABLE, FORBIDDEN, TIMED_OUT, INTERRUPTED, UNEXPECTED_ANSWER.
 */
export interface ReleaseSource {
  /** `release testops in namespace testops`, for people */
  readonly target: string
  /** a command of helm for it, as it is typed: its verb, then what stands behind the release's name */
  helm(verb: string, ...words: string[]): ShellCommand
  /** the newest revision */
  latest(): Promise<ReleaseRevision>
  /** null: it is not on record, or not any more */
  revision(number: number): Promise<ReleaseRevision | null>
  /**
   * what an upgrade would put on record. Throws UNAVAILABLE, UNREACHABLE where the chart cannot be had, REFUSED where
   * it makes nothing of these values
   */
  trial(upgrade: ReleaseUpgrade): Promise<Pick<ReleaseRevision, 'chart' | 'values'>>
  /**
   * Fields that others own, and that helm would set to other values: the API server would refuse it for them. `next`:
   * an upgrade with these values above those of its files, or the revision of a rollback. Asked of the API server on
   * trial, which changes nothing; what it does not tell is left out
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
  /** who owns it, as the API server names it: `kubectl-set` */
  manager: string
  /** the command that shows it */
  shown: ShellCommand
}

export interface ReleaseRevision {
  revision: number
  /** `deployed`, `superseded`, `failed`, `pending-upgrade`, … */
  status: string
  /** what Helm notes of it: 'Upgrade complete' */
  description: string
  /** ISO 8601 */
  updatedAt: string
  chart: ReleaseChart
  /** those that were given, by files and by --set, merged; not the chart's own */
  values: Values
}

export interface ReleaseChart {
  name: string
  version: string
}

export interface ReleaseUpgrade {
  /** a folder or an archive, as an absolute path; REPOSITORY/NAME; an address */
  chart: string
  chartVersion: string
  /** of values, absolute, in Helm's order: the later wins */
  files: readonly string[]
}
