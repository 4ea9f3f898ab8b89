import type { LogText } from '../adapters/log-file.ts'
import type { ReleaseControl, ServiceControl } from '../core/controls.ts'
import type { HostPort, Opened, Way } from '../core/endpoint.ts'
import type { RepairLock } from '../core/lock.ts'
import type { Secret } from '../core/secret.ts'
import type { ReleaseSource, ServiceCommands, ServiceSource } from '../core/sources.ts'

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
   * A way from this machine to an address as the service writes it, kept open until it is closed; null: the address is to be used
   * as it is. Throws UNAVAILABLE, FORBIDDEN where there is none
   */
  reach(address: HostPort): Promise<Opened<Way> | null>
  /** what keeps a second operator out here, across machines; null: the platform has nothing for that. Throws as its `take` does */
  lock(own: { who: string; what: string }): Promise<RepairLock | null>
  /** lets go of every connection; never throws */
  close(): Promise<void>
}

/** For each question that is asked of a platform. */
export interface PlatformOptions {
  timeoutMs: number
  /** of the programs that are run, and where their configuration is looked for; this process's own where it is left out */
  environment?: Readonly<Record<string, string | undefined>>
  signal?: AbortSignal
}
