import type { LogOrigin } from '../../adapters/log-file.ts'
import type { ServiceCommands, ServiceHealth, ServiceStatus } from '../../core/sources.ts'

/** What starts and stops the service on this machine: systemd, or commands of the operator's own. */
export interface ServiceManager {
  /** Returns the service's state; throws AdminError if the manager cannot be asked */
  status(): Promise<ServiceStatus>
  /** Returns the health of the service's process; throws as `status` */
  health(): Promise<ServiceHealth>
  /** Returns once the manager has done its part; the service may still be coming up or going down */
  start(options: { timeoutMs: number }): Promise<void>
  stop(options: { timeoutMs: number }): Promise<void>
  /** Returns what it passes to the service; the files are in the order in which they are read */
  environment(): Promise<{ variables: ReadonlyMap<string, string>; files: readonly EnvironmentFile[] }>
  /** Returns the lines of the unit's files. Absent: there is no unit */
  definition?: () => Promise<{ lines: readonly unknown[] }>
  readonly commands: ServiceCommands
  /** Where it keeps the service's output; null if unknown */
  readonly log: LogOrigin | null
}

export interface EnvironmentFile {
  path: string
  /** True if the file may be missing */
  optional: boolean
}

/** The service on this machine, as the configuration or the lab describes it. Files are absolute. */
export interface HostSettings {
  /** Systemd unit; overrides `commands` */
  unit: string | null
  commands: { start: Command; stop: Command; status: Command } | null
  logs: { file: string } | { command: Command } | null
  /** `at`: where the configuration names it */
  environmentFile: { path: string; at: string } | null
  /** `registry/repository/name:tag` */
  image: string | null
  build: string | null
  /** File to read processors from; null for /proc/cpuinfo */
  cpuinfo: string | null
  /** Where image and build are declared, for people */
  declaredIn: string
}

/** A program and its arguments; run without a shell. */
export type Command = readonly [string, ...string[]]
