import type { LogOrigin } from '../../adapters/log-file.ts'
import type { ServiceCommands, ServiceHealth, ServiceStatus } from '../../core/sources.ts'

/** What starts and stops the service on this machine: systemd, or commands of the operator's own. */
export interface ServiceManager {
  /** throws AdminError where it cannot be asked */
  status(): Promise<ServiceStatus>
  /** throws as `status` */
  health(): Promise<ServiceHealth>
  /** returns once the manager has done its part; the service may still be coming up or going down */
  start(options: { timeoutMs: number }): Promise<void>
  stop(options: { timeoutMs: number }): Promise<void>
  /** what it hands to the service, the files in the order in which they are read */
  environment(): Promise<{ variables: ReadonlyMap<string, string>; files: readonly EnvironmentFile[] }>
  readonly commands: ServiceCommands
  /** where it keeps the service's output; null: not known */
  readonly log: LogOrigin | null
}

export interface EnvironmentFile {
  path: string
  /** that it is missing is no fault */
  optional: boolean
}
