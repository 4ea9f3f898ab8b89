import type { LogText } from '../adapters/log-file.ts'
import type { ServiceControl } from '../core/controls.ts'
import type { Secret } from '../core/secret.ts'
import type { ServiceCommands, ServiceSource } from '../core/sources.ts'

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
}
