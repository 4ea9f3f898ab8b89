import type { LogText } from '../adapters/log-file.ts'
import type { CtlCommand } from '../adapters/rabbitmq/ctl/program.ts'
import type { ReleaseControl, ServiceControl } from '../core/controls.ts'
import type { HostPort, Opened, Way } from '../core/endpoint.ts'
import type { LockOwner, RepairLock } from '../core/lock.ts'
import type { RunStore, WorkloadIdentity } from '../core/run.ts'
import type { Secret } from '../core/secret.ts'
import type { Machine, ReleaseSource, ServiceCommands, ServiceSource } from '../core/sources.ts'

/** Where the service runs, and what can be learned there. What it cannot tell throws NOT_CONFIGURED with the reason. */
export interface Platform {
  /** what the operator would type; null: not known */
  readonly commands: ServiceCommands | null
  /** throws where the platform cannot be asked */
  service(): Promise<ServiceSource>
  /** the service's own settings */
  environment(): Promise<ReadonlyMap<string, string | Secret>>
  log(): Promise<LogText>
  /** how the service is stopped and started */
  control(): Promise<ServiceControl>
  /** the release of Helm that the service is part of; absent: there are none on this platform */
  release?: () => Promise<ReleaseSource & ReleaseControl>
  /**
   * A way from this machine to an address as the service writes it, kept open until it is closed; null: the address is
   * to be used as it is. Throws UNAVAILABLE, FORBIDDEN where there is none
   */
  reach(address: HostPort): Promise<Opened<Way> | null>
  /**
   * Whether this machine gets no connection to an address that the service may well reach, since it is in another
   * network; left out: it is in the same. Never throws
   */
  isBeyond?(address: HostPort): Promise<boolean>
  /**
   * how `rabbitmqctl` is run beside the broker at an address, where that is a part of the platform; null: it is not.
   * Throws where it cannot be run
   */
  brokerProgram?(address: HostPort): Promise<CtlCommand | null>
  /**
   * what keeps a second operator out here, across machines; null: the platform has nothing for that. Throws as its
   * `take` does
   */
  lock(own: LockOwner): Promise<RepairLock | null>
  /** what runs the service there, by name; left out: the platform has no such names. Throws as `service` */
  workload?(): Promise<WorkloadIdentity>
  /**
   * where journals are kept on the platform itself, should the broker not take them; `isNeeded`: it does not, so that a
   * missing right is told. Left out: nowhere
   */
  journals?(of: { isNeeded: boolean }): Promise<RunStore>
  /**
   * reads the processors of machines of which `machines` cannot tell them; left out: it always can. Throws as the
   * service's source
   */
  prove?(machines: readonly Machine[], proof: Proof): Promise<readonly Machine[]>
  /** lets go of every connection; never throws */
  close(): Promise<void>
}

/** How servers that this machine does not reach are reached through the cluster. */
export interface RelayWish {
  /** where no pod of the service can carry it */
  mayMakePods: boolean
  /** it is needed while the service is stopped, too */
  isLasting: boolean
  /** is told what is left behind */
  tell: (message: string) => void
}

/** What is done to know the processors of a machine. */
export interface Proof {
  /** something short-lived may be started there */
  mayMakePods: boolean
  /** is told what is left behind */
  tell: (message: string) => void
  signal?: AbortSignal | undefined
}

/** What a finder opened, for the same platform to go on with. */
export type Seen = object

/** For each question that is asked of a platform. */
export interface PlatformOptions {
  timeoutMs: number
  /**
   * of the programs that are run, and where their configuration is looked for; this process's own where it is left out
   */
  environment?: Readonly<Record<string, string | undefined>>
  signal?: AbortSignal
  relay?: RelayWish | undefined
  /** what was opened when the deployment was found */
  seen?: Seen | undefined
}
