import type { Wanted } from '../core/check.ts'
import type { Deployment } from '../core/deployment.ts'
import { isUntried } from '../core/error.ts'
import type { ApiSource, LogRecord, LogsSource, ServiceSource, ServiceStatus } from '../core/sources.ts'
import { logBytes } from '../core/sources/logs.ts'
import { PartialSettings } from '../core/deployment.ts'
import { Secret } from '../core/secret.ts'
import { isSecretSetting, settingNames, vendorIn } from '../knowledge/settings.ts'
import type { SettingNames, Vendor } from '../knowledge/settings.ts'
import { had, notConfigured, tolerant } from './wanted.ts'

export interface ServiceSettings {
  vendor: Vendor
  names: SettingNames
  /** Returns a setting's value; null if it is absent or a secret. Throws if it may not be read, or may be set unseen */
  value(name: string): string | null
}

/** Reads the service's settings, under the names of the vendor that its environment shows (FIELD-NOTES.md 0). */
export async function readSettings(service: ServiceSource, deployment: Deployment): Promise<ServiceSettings> {
  const environment = await service.environment()
  const vendor = vendorIn(environment.keys(), deployment.vendor)
  const names = settingNames(vendor)
  const own: readonly string[] = Object.values(names)
  return {
    vendor,
    names,
    value: (name) => {
      const value = environment.get(name)
      if (value === undefined && own.includes(name) && environment instanceof PartialSettings) throw environment.missing
      if (!(value instanceof Secret)) return value ?? null
      if (!own.includes(name)) return null
      // the service may get all its settings from one Secret
      const revealed = value.reveal()
      return isSecretSetting(name, revealed) ? null : revealed
    },
  }
}

/**
 * Returns the newest records, oldest first; empty if there is no log to read. `isWhole`: also empty if a part could not
 * be read, because what one instance says proves nothing of what another does.
 */
export async function recentRecords(logs: Wanted<LogsSource>, { isWhole = false } = {}): Promise<readonly LogRecord[]> {
  const source = had(logs)
  const recent = source && (await tolerant(source.recent({ maxBytes: logBytes })))
  if (recent === null || (isWhole && recent.unread !== undefined)) return []
  return recent.records
}

/**
 * Returns when the service, as it runs now, was started: the first of its instances. Null if that is unknown or it does
 * not run.
 */
export function startOf(status: ServiceStatus | null): Date | null {
  if (status?.state !== 'running') return null
  const starts = status.instances.flatMap(({ startedAt }) => startedAt ?? [])
  return starts.length === 0 ? null : new Date(Math.min(...starts.map((at) => at.getTime())))
}

/** Returns the records that the service wrote since its last start; null if that cannot be told. */
export function sinceStart(records: readonly LogRecord[], status: ServiceStatus | null): readonly LogRecord[] | null {
  const start = startOf(status)
  if (!start || records.every(({ at }) => at === null)) return null
  // from the end: earlier records may have times of another time zone
  const last = records.findLastIndex(({ at }) => at !== null && at < start)
  return records.slice(last + 1)
}

/**
 * True if the service has finished starting, well or not: it reports its health only once it has migrated. Without an
 * API to ask, true if the platform says that it runs.
 */
export async function isUp(api: Wanted<ApiSource>, status: ServiceStatus | null): Promise<boolean> {
  if (notConfigured(api) || isUntried(api)) return status?.state === 'running'
  const source = had(api)
  const health = source && (await tolerant(source.health()))
  return health !== null && health.status !== null
}
