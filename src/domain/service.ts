import type { Wanted } from '../core/check.ts'
import type { Deployment } from '../core/deployment.ts'
import { isUntried } from '../core/error.ts'
import type { ApiSource, LogRecord, LogsSource, ServiceSource, ServiceStatus } from '../core/sources.ts'
import { PartialSettings } from '../core/partial-settings.ts'
import { Secret } from '../core/secret.ts'
import { isSecretSetting, settingNames, vendorIn } from '../knowledge/settings.ts'
import type { SettingNames, Vendor } from '../knowledge/settings.ts'
import { had, notConfigured, tolerant } from './wanted.ts'

export interface ServiceSettings {
  vendor: Vendor
  names: SettingNames
  /**
   * a setting's value, null where it is absent; secrets are not values to look at. Throws where it may not be read, or
   * may be set unseen
   */
  value(name: string): string | null
}

/** The service's settings, under the names of the vendor that its environment shows (FIELD-NOTES.md 0). */
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
      // a whole Secret may be what the service is set by
      const revealed = value.reveal()
      return isSecretSetting(name, revealed) ? null : revealed
    },
  }
}

/** How much of the log a check looks at. */
export const logBytes = 4_000_000

/**
 * The newest records, oldest first; none where there is no log to read. `isWhole`: none either where a part of it could
 * not be read, for what one instance says proves nothing then of what another does.
 */
export async function recentRecords(logs: Wanted<LogsSource>, { isWhole = false } = {}): Promise<readonly LogRecord[]> {
  const source = had(logs)
  const recent = source && (await tolerant(source.recent({ maxBytes: logBytes })))
  if (recent === null || (isWhole && recent.unread !== undefined)) return []
  return recent.records
}

/**
 * When the service, as it runs now, was started: the first of its instances. Null where that is not known or it does
 * not run.
 */
export function startOf(status: ServiceStatus | null): Date | null {
  if (status?.state !== 'running') return null
  const starts = status.instances.flatMap(({ startedAt }) => startedAt ?? [])
  return starts.length === 0 ? null : new Date(Math.min(...starts.map((at) => at.getTime())))
}

/** a log's clock may be this far ahead of this machine's before its times count as wrong */
const aheadMs = 2000

/**
 * Whether the newest record is from the future. Then the log's clock is ahead, or it uses another time zone, and
 * records from before a start may look like records from after it.
 */
export function isLogAhead(records: readonly LogRecord[]): boolean {
  const newest = records.findLast(({ at }) => at !== null)?.at ?? null
  return newest !== null && newest.getTime() > Date.now() + aheadMs
}

/** Records that the service wrote since it was last started; null where that cannot be told. */
export function sinceStart(records: readonly LogRecord[], status: ServiceStatus | null): readonly LogRecord[] | null {
  const start = startOf(status)
  if (!start || records.every(({ at }) => at === null)) return null
  // from the end: a log may hold times of another time zone further up
  const last = records.findLastIndex(({ at }) => at !== null && at < start)
  return records.slice(last + 1)
}

/**
 * Whether the service has come through its start, well or not: its health is told, which it is only once it has
 * migrated. Without an API to ask, whether the platform says that it runs.
 */
export async function isUp(api: Wanted<ApiSource>, status: ServiceStatus | null): Promise<boolean> {
  if (notConfigured(api) || isUntried(api)) return status?.state === 'running'
  const source = had(api)
  const health = source && (await tolerant(source.health()))
  return health !== null && health.status !== null
}
