import type { Wanted } from '../../core/check.ts'
import type { Deployment } from '../../core/deployment.ts'
import { Secret } from '../../core/secret.ts'
import type {
  ApiSource,
  ChangelogLockRow,
  DatabaseBackend,
  DatabaseSource,
  LogRecord,
  LogsSource,
  ServiceInstance,
  ServiceSource,
  ServiceStatus,
} from '../../core/sources.ts'
import { jdbcApplication, parseLockedBy } from '../../knowledge/lock.ts'
import { logSignatures } from '../../knowledge/log-signatures.ts'
import { datasourcePrefixes, springSettings } from '../../knowledge/settings.ts'
import type { LockSituation } from './lock-holder.ts'
import { readGranted } from './lock-time.ts'
import { isUp, recentRecords, sinceStart } from './service.ts'
import { had, tolerant } from './wanted.ts'

/** What is known around the databases, asked once for all of them. */
export interface Surroundings {
  status: ServiceStatus | null
  records: readonly LogRecord[]
  /** users can work with the service, as far as can be told: it has come through its start */
  up: boolean
  /** it really tells its health; `up` is also said of a service without an API that is known */
  answers: boolean
  /** names of the machines that the platform sees; null: not known */
  machines: readonly string[] | null
  /** of the service's JVM */
  timeZone: string | null
  /** as the service's own settings have it; the configuration's stands above it */
  ownTimeZone: string | null
  /** as whom the service uses its main database */
  user: string | null
  /** as whom it uses all of its databases; null: not known */
  users: readonly string[] | null
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
  const [records, up, machines, known] = await Promise.all([
    recentRecords(logs),
    isUp(api, status),
    platform && tolerant(platform.machines()),
    zoneAndUsers(platform, deployment),
  ])
  return { status, records, up, answers: up && had(api) !== null, machines: machines?.map(({ name }) => name) ?? null, ...known }
}

/** The service's time zone and database users: from the deployment, else from its settings, where they can be read. */
async function zoneAndUsers(
  service: ServiceSource | null,
  deployment: Deployment,
): Promise<Pick<Surroundings, 'timeZone' | 'ownTimeZone' | 'user' | 'users'>> {
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
    users: usersIn((name) => environment?.has(name) ?? false, plain),
  }
}

/** As whom the service uses its data sources; null where that is not known of each that it has. */
function usersIn(has: (name: string) => boolean, plain: (name: string) => string | null): readonly string[] | null {
  const used = datasourcePrefixes.filter((prefix) => has(`${prefix}_URL`) || has(`${prefix}_USERNAME`))
  const users = used.map((prefix) => plain(`${prefix}_USERNAME`)).filter((user) => user !== null)
  return used.length > 0 && users.length === used.length ? users : null
}

/** names that every machine has for itself, and Java's for one without a name */
const unnamed = ['localhost', 'unknown', '']

/** Asks the database for what is needed to judge who holds this row, and whether the holder lives. */
export async function situationOf(database: DatabaseSource, row: ChangelogLockRow, around: Surroundings): Promise<LockSituation> {
  const [identity, clock, sessions] = await Promise.all([database.identity(), database.clock(), tolerant(database.backends())])
  const now = new Date(Date.now() + clock.offsetMs)
  const granted = readGranted(row.lockGranted, around.timeZone, now)
  const users = new Set([identity.user, ...(around.users ?? []), ...(around.user === null ? [] : [around.user])])
  const isOwn = ({ user }: DatabaseBackend): boolean => user === null || users.has(user)
  const own = sessions?.backends.filter(isOwn) ?? null
  const host = row.lockedBy === null ? '' : parseLockedBy(row.lockedBy).host
  const recent = sinceStart(around.records, around.status)
  return {
    host: unnamed.includes(host.toLowerCase()) ? null : host,
    granted,
    now,
    databaseStartedAt: identity.startedAt,
    backends: own !== null && own.every(({ query }) => query !== null) ? own : null,
    strangers: sessions?.backends.filter((session) => !isOwn(session) && (around.users === null || session.application === jdbcApplication)) ?? [],
    usersKnown: around.users !== null,
    machines: around.machines,
    instances: instancesOf(around),
    clock,
    waits: recent !== null && waitsFor(recent) && (granted === null || now.getTime() - granted.earliest.getTime() > lagMs),
    took: recent?.some(({ text }) => logSignatures.lockTaken.test(text)) ?? false,
    pooled: identity.pooled,
    answers: around.answers,
  }
}

/** A lock that was taken later than this may be the waiter's own: its log, read before the row, lags behind. */
const lagMs = 5000

/** Whether the last that the log has to say of the lock is that the service does not get it: who waits may get it yet. */
function waitsFor(records: readonly LogRecord[]): boolean {
  const { lockWaiting, lockRefused, lockTaken } = logSignatures
  const last = records.findLast(({ text }) => [lockWaiting, lockRefused, lockTaken].some((signature) => signature.test(text)))
  return last !== undefined && !lockTaken.test(last.text)
}

/** A platform may know that the service runs and no more. */
function instancesOf({ status, machines }: Surroundings): readonly ServiceInstance[] | null {
  if (status === null) return null
  if (status.state !== 'running') return []
  const [name = 'this machine'] = machines ?? []
  return status.instances.length > 0 ? status.instances : [{ name: 'the service', host: name, pid: null, startedAt: null }]
}
