import type { Wanted } from '../../core/check.ts'
import type { Deployment } from '../../core/deployment.ts'
import { Secret } from '../../core/secret.ts'
import type {
  ApiSource,
  ChangelogLockRow,
  DatabaseSource,
  LogRecord,
  LogsSource,
  ServiceSource,
  ServiceStatus,
} from '../../core/sources.ts'
import { parseLockedBy } from '../../knowledge/lock.ts'
import { logSignatures } from '../../knowledge/log-signatures.ts'
import { springSettings } from '../../knowledge/settings.ts'
import type { LockSituation } from './lock-holder.ts'
import { readGranted } from './lock-time.ts'
import { isUp, recentRecords, sinceStart } from './service.ts'
import { had, tolerant } from './wanted.ts'

/** What is known around the databases, asked once for all of them. */
export interface Surroundings {
  status: ServiceStatus | null
  records: readonly LogRecord[]
  up: boolean
  /** of the service's JVM */
  timeZone: string | null
  /** as the service's own settings have it; the configuration's stands above it */
  ownTimeZone: string | null
  /** as whom the service uses its main database */
  user: string | null
}

/** The sources around the databases, each as far as it can be had. */
export interface Around {
  service: Wanted<ServiceSource>
  logs: Wanted<LogsSource>
  api: Wanted<ApiSource>
}

export async function surroundings({ service, logs, api }: Around, deployment: Deployment): Promise<Surroundings> {
  const platform = had(service)
  const status = platform && (await tolerant(platform.status()))
  const [records, up, known] = await Promise.all([recentRecords(logs), isUp(api, status), zoneAndUser(platform, deployment)])
  return { status, records, up, ...known }
}

/** The service's time zone and database user: from the deployment, else from its settings, where they can be read. */
async function zoneAndUser(
  service: ServiceSource | null,
  deployment: Deployment,
): Promise<Pick<Surroundings, 'timeZone' | 'ownTimeZone' | 'user'>> {
  const environment = service && (await tolerant(service.environment()))
  const plain = (name: string): string | null => {
    const value = environment?.get(name)
    return value === undefined || value instanceof Secret || value === '' ? null : value
  }
  // POSIX lets a zone's name begin with a colon
  const ownTimeZone = plain(springSettings.timeZone)?.replace(/^:/, '') ?? null
  return {
    timeZone: deployment.timeZone ?? ownTimeZone,
    ownTimeZone,
    user: plain(springSettings.datasourceUsername),
  }
}

/** Asks the database for what is needed to judge who holds this row, and whether the holder lives. */
export async function situationOf(database: DatabaseSource, row: ChangelogLockRow, around: Surroundings): Promise<LockSituation> {
  const [identity, clock, sessions] = await Promise.all([database.identity(), database.clock(), tolerant(database.backends())])
  const now = new Date(Date.now() + clock.offsetMs)
  const granted = readGranted(row.lockGranted, around.timeZone, now)
  const users = new Set([identity.user, ...(around.user === null ? [] : [around.user])])
  const own = sessions?.backends.filter(({ user }) => user === null || users.has(user)) ?? null
  const recent = sinceStart(around.records, around.status)
  return {
    host: row.lockedBy === null ? null : parseLockedBy(row.lockedBy).host,
    granted,
    now,
    databaseStartedAt: identity.startedAt,
    backends: own !== null && own.every(({ query }) => query !== null) ? own : null,
    instances: around.status === null ? null : around.status.state === 'running' ? around.status.instances : [],
    clock,
    waits: recent?.some(({ text }) => logSignatures.lockWaiting.test(text) || logSignatures.lockRefused.test(text)) ?? false,
    pooled: identity.pooled,
    up: around.up,
  }
}
