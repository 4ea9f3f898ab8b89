import type { LogText } from '../adapters/log-file.ts'
import type { CtlCommand } from '../adapters/rabbitmq/ctl/program.ts'
import type { ReleaseControl, ServiceControl } from '../core/controls.ts'
import type { HostPort, Opened, Way } from '../core/endpoint.ts'
import type { AdminError } from '../core/error.ts'
import type { LockOwner, RepairLock } from '../core/lock.ts'
import type { RunStore, WorkloadIdentity } from '../core/run.ts'
import type { Secret } from '../core/secret.ts'
import type { Suggestion } from '../core/shell-command.ts'
import type { Machine, ReleaseSource, ServiceCommands, ServiceSource } from '../core/sources.ts'

/** Where the service runs, and how to ask it. Throws NOT_CONFIGURED, with the reason, for what it cannot tell. */
export interface Platform {
  /** Commands that the operator would type; null if unknown */
  readonly commands: ServiceCommands | null
  /** Returns the service as checks see it; throws if the platform cannot be asked */
  service(): Promise<ServiceSource>
  /** Returns the service's own settings */
  environment(): Promise<ReadonlyMap<string, string | Secret>>
  log(): Promise<LogText>
  /** Returns how to stop and start the service */
  control(): Promise<ServiceControl>
  /** Returns the Helm release that the service is part of; absent if the platform has no releases */
  release?: () => Promise<ReleaseSource & ReleaseControl>
  /**
   * Opens a way from this machine to an address as the service writes it, until it is closed. Null if the address can
   * be used as it is. Throws UNAVAILABLE, FORBIDDEN if there is no way
   */
  reach(address: HostPort): Promise<Opened<Way> | null>
  /**
   * True if this machine cannot connect to an address that the service may well reach, since it is in another network.
   * Absent if both are in the same network. Never throws
   */
  isBeyond?(address: HostPort): Promise<boolean>
  /**
   * Returns how to run `rabbitmqctl` beside the broker at an address; null if that broker is not part of the platform.
   * Throws if it cannot be run
   */
  brokerProgram?(address: HostPort): Promise<CtlCommand | null>
  /**
   * Returns the lock that keeps a second operator out across machines; null if the platform has none. Throws as the
   * lock's `take` does
   */
  lock(own: LockOwner): Promise<RepairLock | null>
  /** Returns what runs the service there, by name; absent if the platform has no such names. Throws as `service` */
  workload?(): Promise<WorkloadIdentity>
  /**
   * Returns where the platform itself keeps journals, for a broker that does not take them; absent if nowhere.
   * `isNeeded`: the broker does not take them, so that a missing right is reported
   */
  journals?(of: { isNeeded: boolean }): Promise<RunStore>
  /**
   * Reads the processors of machines that `machines` cannot tell; absent if it always can. Throws as the service's
   * source
   */
  prove?(machines: readonly Machine[], proof: Proof): Promise<readonly Machine[]>
  /** Closes every connection; never throws */
  close(): Promise<void>
}

/** How to reach, through the cluster, servers that this machine does not reach. */
export interface RelayWish {
  /** True if a pod may be created where no pod of the service can carry the relay */
  mayMakePods: boolean
  /** True if the relay is needed while the service is stopped, too */
  isLasting: boolean
  /** Reports what is left behind */
  tell: (message: string) => void
}

/** How to learn the processors of a machine. */
export interface Proof {
  /** True if something short-lived may be started there */
  mayMakePods: boolean
  /** Reports what is left behind */
  tell: (message: string) => void
  signal?: AbortSignal | undefined
}

/** What a finder opened, for the same platform to reuse. */
export type Seen = object

/** Options for each question to a platform. */
export interface PlatformOptions {
  timeoutMs: number
  /** Environment of the programs that are run, and of the search for their configuration; absent: this process's own */
  environment?: Readonly<Record<string, string | undefined>>
  signal?: AbortSignal
  relay?: RelayWish | undefined
  /** What the finder opened when it found the deployment */
  seen?: Seen | undefined
}

/** A deployment that was found without a configuration. */
export interface Found {
  /** Name of the compose project, unit or release */
  name: string
  /** Description for people: 'compose project `testops` (service testops, image …)' */
  what: string
  /** What a configuration would say about it */
  place:
    | { platform: 'host'; unit: string }
    | { platform: 'compose'; project: string; service: string; file: string | null }
    | { platform: 'kubernetes'; context: string | null; namespace: string; release: string }
  /** What was opened to find it, kept for the next that opens it */
  seen?: Seen
}

/** What one platform found, and where it searched, for people. */
interface Search {
  found: readonly Found[]
  looked: string
  /** What could not be asked, and why; it may have more deployments */
  unseen?: string
  /** What to type about that */
  next?: readonly Suggestion[]
  /** Failure of the place that is named to look at, if it did not answer; what it has is then unknown */
  failure?: AdminError
}

export interface FinderOptions extends PlatformOptions {
  /** Absolute path of the folder in which to look for a compose file */
  folder: string
  /** True if what was opened is kept for the next that opens it, if just one deployment is found */
  isKept?: boolean
}

/**
 * Looks for deployments on one platform. If a tool is not installed, `looked` says so. Throws what asking it throws.
 */
export type Finder = (options: FinderOptions) => Promise<Search>
