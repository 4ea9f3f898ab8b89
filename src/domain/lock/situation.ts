import { currentTime, asUtc, parseLocalTime } from '../../core/local-time.ts'
import { traitsOf } from '../../knowledge/platforms.ts'
import { isIP } from 'node:net'
import type { Wanted } from '../../core/check.ts'
import type { Deployment } from '../../core/deployment.ts'
import { Secret, UnreadableSecret } from '../../core/secret.ts'
import type {
  ApiSource,
  ChangelogLockRow,
  DatabaseBackend,
  DatabaseSource,
  LogRecord,
  LogsSource,
  ServiceInstance,
  ServiceOrigin,
  ServiceSource,
  ServiceStatus,
} from '../../core/sources.ts'
import { changelogLock, isSameHost, jdbcApplication, parseLockedBy } from '../../knowledge/lock.ts'
import { logSignatures } from '../../knowledge/log-signatures.ts'
import { namedTimeZone } from '../../knowledge/jvm.ts'
import { databaseUse, liquibaseSettings } from '../../knowledge/database.ts'
import type { LiquibaseSettings, SettingLookup } from '../../knowledge/database.ts'
import type { NamedTimeZone } from '../../knowledge/jvm.ts'
import { PartialSettings } from '../../core/deployment.ts'
import { betweenIt } from './route.ts'
import type { KnownUse } from './route.ts'
import { contradictionOf, readGranted } from './time.ts'
import type { Granted } from './time.ts'
import { isUp, recentRecords, sinceStart } from '../service.ts'
import { had, tolerant } from '../wanted.ts'

/**
 * All that is known about who may hold the change-log lock. Times are by the database's clock, except those of the
 * instances.
 */
export interface LockSituation {
  /** Host in `lockedby`; null if it names none, or `localhost`, which every machine is to itself */
  host: string | null
  /** Address, if `lockedby` names one in place of a host: Docker gives each of its hosts the same ones */
  address: string | null
  granted: Granted | null
  now: Date
  databaseStartedAt: Date
  /** True if the server is a standby */
  inRecovery: boolean
  /** Sessions of the service's users only; null if they cannot be seen */
  backends: readonly DatabaseBackend[] | null
  /**
   * Sessions of others that may be the holder's: all if the service's user is unknown, otherwise all but idle ones that
   * may not take the lock
   */
  strangers: readonly DatabaseBackend[]
  /** Those of them whose work and age this program's user may not see */
  hidden: readonly DatabaseBackend[]
  /** True if the service's database users are known */
  usersKnown: boolean
  /** The service's instances; null if the platform cannot be asked */
  instances: readonly ServiceInstance[] | null
  /** Names of the machines on which the platform sees the service; null if unknown */
  machines: readonly string[] | null
  /** True if the host was a container or pod of the service's, and nothing runs in it any more */
  hasEnded: boolean
  /** Milliseconds that the database's clock is ahead of the instances', and how uncertain that is */
  clock: { offsetMs: number; uncertaintyMs: number }
  /** True if the running service's own log shows it waiting for this very lock */
  waits: boolean
  /** Milliseconds that the clock of that log is ahead of the database's; null if nothing shows that it is */
  logAheadMs: number | null
  /**
   * True if the running service's own log shows that it took this very lock since its start, and does not show its
   * release
   */
  took: boolean
  /** True if its log shows that its previous process took this very lock, and does not show its release */
  tookBefore: boolean
  /**
   * What pools connections to the database, for people; null if no pooler is known. The age and user of its sessions
   * say nothing of the clients behind it
   */
  pooler: string | null
  /** Why a pooler cannot be ruled out, for people; null if it can, or if one is known */
  poolerDoubt: string | null
  /** Where the service's instances connect from; null if that cannot be seen */
  origins: readonly ServiceOrigin[] | null
  /** Ports of the database's server: the one that this program connects to, and the server's own */
  ports: readonly number[]
  /** True if the service reports its health, so it has migrated: its own sessions are no sign of a migration */
  answers: boolean
}

/** What is known around the databases, read once for all of them. */
export interface Surroundings extends KnownUse {
  status: ServiceStatus | null
  records: readonly LogRecord[]
  /** True if users can work with the service, as far as can be told: it has finished starting */
  up: boolean
  /** True if it really reports its health; `up` is also true for a service without a known API */
  answers: boolean
  /** Names of the machines that the platform sees; null if unknown */
  machines: readonly string[] | null
  /** Time zone of the service's JVM; null if unknown */
  timeZone: string | null
  /** Time zone in the service's own settings; the configuration's takes precedence */
  ownTimeZone: NamedTimeZone | null
  /** As `ServiceSource.hasEnded`; false if that cannot be told */
  hasEnded: (host: string) => Promise<boolean>
  /** Reads again where its instances connect from; null if that cannot be seen */
  origins: () => Promise<readonly ServiceOrigin[] | null>
  /** What the service's settings say of its Liquibase; null if they cannot be read */
  liquibase: LiquibaseSettings | null
  /** Database user of the service's Liquibase; null if unknown */
  user: string | null
}

/** The sources around the databases, as far as each is available. */
export interface Around {
  service: Wanted<ServiceSource>
  logs: Wanted<LogsSource>
  api: Wanted<ApiSource>
}

export async function surroundings({ service, logs, api }: Around, deployment: Deployment): Promise<Surroundings> {
  const platform = had(service)
  const status = platform && (await tolerant(platform.status()))
  const [records, up, machines, known] = await Promise.all([
    recentRecords(logs, { isWhole: true }),
    isUp(api, status),
    platform && tolerant(platform.machines()),
    ofSettings(platform, deployment),
  ])
  const origins = async (): Promise<readonly ServiceOrigin[] | null> => (platform ? tolerant(platform.origins()) : null)
  const hasEnded = async (host: string): Promise<boolean> =>
    platform ? ((await tolerant(platform.hasEnded(host))) ?? false) : false
  const names = machines?.map(({ name }) => name) ?? null
  const here = traitsOf(deployment).sharesMachine ? (names ?? []) : null
  return { status, records, up, answers: up && had(api) !== null, machines: names, here, hasEnded, origins, ...known }
}

/**
 * Reads the service's time zone, from the deployment or otherwise from its settings, and its use of databases. Null for
 * what cannot be read.
 */
async function ofSettings(
  service: ServiceSource | null,
  deployment: Deployment,
): Promise<Pick<Surroundings, 'timeZone' | 'ownTimeZone' | 'use' | 'liquibase' | 'user'>> {
  const environment = service && (await tolerant(service.environment()))
  // settings may hold a password: take only zone, hosts, users, and names of schemas and of a table
  const lookup: SettingLookup = (name) => {
    const value = environment?.get(name)
    if (value instanceof UnreadableSecret) return { value: null, isSecret: true }
    return value instanceof Secret
      ? { value: value.reveal(), isSecret: true }
      : value === undefined
        ? undefined
        : { value, isSecret: false }
  }
  const revealed = (name: string): string | undefined => lookup(name)?.value ?? undefined
  const ownTimeZone = namedTimeZone(revealed)
  const use = environment ? databaseUse(lookup, { isPartial: environment instanceof PartialSettings }) : null
  return {
    timeZone: deployment.timeZone ?? ownTimeZone?.zone ?? null,
    ownTimeZone,
    use,
    liquibase: environment ? liquibaseSettings(revealed) : null,
    user: use?.user ?? null,
  }
}

/** Names that every machine has for itself, and Java's name for a machine without one */
const unnamed = ['localhost', 'localhost.localdomain', 'unknown', '']

/** Reads from the database what is needed to judge who holds this row, and whether the holder lives. */
export async function situationOf(
  database: DatabaseSource,
  row: ChangelogLockRow,
  around: Surroundings,
): Promise<LockSituation> {
  const [identity, clock, sessions] = await Promise.all([
    database.identity(),
    database.clock(),
    tolerant(database.backends()),
  ])
  // read after the sessions: a connection that has gone since is not the holder's
  const origins = await around.origins()
  const ports = [portOf(database.target), identity.port].flatMap((port) => port ?? [])
  const between = betweenIt(database, identity, ports, around)
  const now = new Date(currentTime() + clock.offsetMs)
  const granted = grantedBy(row, around, { clock, now })
  const known = around.use?.users ?? null
  const users = new Set([identity.user, ...(known ?? []), ...(around.user === null ? [] : [around.user])])
  const isOwn = ({ user }: DatabaseBackend): boolean => user === null || users.has(user)
  const own = sessions?.filter(isOwn) ?? null
  const others = sessions?.filter((session) => !isOwn(session) && (known === null || mayMigrate(session))) ?? []
  const host = row.lockedBy === null ? '' : parseLockedBy(row.lockedBy).host
  const recent = sinceStart(around.records, around.status)
  const isNamed = !unnamed.includes(host.toLowerCase()) && isIP(host) === 0
  const instances = instancesOf(around)
  const isRunning = instances?.some((instance) => isSameHost(instance.host, host)) ?? true
  return {
    host: isNamed ? host : null,
    address: isIP(host) === 0 ? null : host,
    granted,
    now,
    databaseStartedAt: identity.startedAt,
    inRecovery: identity.inRecovery,
    backends: own === null || own.some(isHidden) ? null : own,
    strangers: others.filter((session) => !isHidden(session)),
    hidden: others.filter(isHidden),
    usersKnown: known !== null,
    machines: around.machines,
    instances,
    hasEnded: isNamed && !isRunning && (await around.hasEnded(host)),
    clock,
    waits: recent !== null && waitedSince(recent, row.lockGranted, { now, clock }),
    logAheadMs: recent === null ? null : clockAheadMs(lastWait(recent), { now, clock }),
    took: recent !== null && tookIt(recent, granted, clock),
    tookBefore: recent !== null && recent.length > 0 && tookItBefore(around.records, recent, granted, clock),
    pooler: between.pooler,
    poolerDoubt: between.doubt,
    origins,
    ports,
    answers: around.answers,
  }
}

/** Reads the lock's time by the named time zones, unless something shows that none of them is the writer's. */
function grantedBy(
  { lockGranted }: ChangelogLockRow,
  around: Surroundings,
  at: Pick<LockSituation, 'clock' | 'now'>,
): Granted | null {
  const zones = { named: around.timeZone, other: around.ownTimeZone?.zone ?? null }
  const granted = readGranted(lockGranted, zones, at.now)
  const against = granted && contradictionOf(around, granted, at)
  return against === null ? granted : readGranted(lockGranted, { ...zones, against }, at.now)
}

/**
 * True if the log shows that the service waited for this lock after somebody took it, in whatever time zone that was
 * written. A lock that it waited for earlier, it may have got since.
 */
function waitedSince(
  records: readonly LogRecord[],
  lockGranted: string | null,
  at: Pick<LockSituation, 'clock' | 'now'>,
): boolean {
  const wait = lastWait(records)
  const { offsetMs, uncertaintyMs } = at.clock
  if (wait === null || mayBeNew(lockGranted, at)) return false
  if (aheadMs(wait, at) !== null) return false
  const age = leastAgeMs(lockGranted, at.now)
  return age === null || wait.at === null || wait.at.getTime() + offsetMs - uncertaintyMs > at.now.getTime() - age
}

/**
 * Returns the milliseconds that a log record is ahead of the database's clock; null if it is not. Such a record was
 * written in another time zone than it is read in, or by a wrong clock.
 */
function aheadMs(record: LogRecord | null, { clock, now }: Pick<LockSituation, 'clock' | 'now'>): number | null {
  if (record?.at == null) return null
  const ahead = record.at.getTime() + clock.offsetMs - now.getTime()
  return ahead > clock.uncertaintyMs + lagMs ? ahead : null
}

/**
 * Returns the same, but null if a time zone may explain it. Zones lie whole quarters of an hour apart, less the age of
 * the record, which is written again with each look at the lock.
 */
function clockAheadMs(record: LogRecord | null, at: Pick<LockSituation, 'clock' | 'now'>): number | null {
  const ahead = aheadMs(record, at)
  if (ahead === null) return null
  const slack = at.clock.uncertaintyMs + lagMs
  const over = ahead % quarterMs
  return over <= slack || quarterMs - over <= slack + 1000 * changelogLock.pollSeconds ? null : ahead
}

/** True if the lock may be younger than what was read of the log. */
function mayBeNew(lockGranted: string | null, { now, clock }: Pick<LockSituation, 'clock' | 'now'>): boolean {
  const age = leastAgeMs(lockGranted, now)
  return age !== null && (age <= lagMs || age >= quarterMs - clock.uncertaintyMs - 1000)
}

/** Returns the least age of the lock in milliseconds: zones are quarters of an hour apart. Null if it has no time. */
function leastAgeMs(lockGranted: string | null, now: Date): number | null {
  const local = lockGranted === null ? null : parseLocalTime(lockGranted)
  return local && (((now.getTime() - asUtc(local).getTime()) % quarterMs) + quarterMs) % quarterMs
}

/**
 * Returns the milliseconds until the log of a service that waits must show that it still does, with this lock taken.
 */
export async function untilLogged(
  { lockGranted }: ChangelogLockRow,
  database: DatabaseSource,
  { records, status }: Surroundings,
): Promise<number> {
  const recent = sinceStart(records, status)
  if (recent === null || lastWait(recent) === null) return 0
  const clock = await database.clock()
  const now = new Date(currentTime() + clock.offsetMs)
  if (waitedSince(recent, lockGranted, { now, clock })) return 0
  const age = leastAgeMs(lockGranted, now) ?? 0
  const enough = lagMs + 1000 * changelogLock.pollSeconds
  if (age > enough && !mayBeNew(lockGranted, { now, clock })) return 0
  return (age <= enough ? enough - age : enough + quarterMs - age) + clock.uncertaintyMs + 100
}

/** Returns the port of a target, which is host:port/database as in `DatabaseSource`; null if it has none. */
function portOf(target: string): number | null {
  const port = /:(\d+)\//.exec(target)?.[1]
  return port === undefined ? null : Number(port)
}

/**
 * True if a session may be a migration. Anybody may migrate by hand as any user, and under any session name. A session
 * that may not take the lock, is idle, and is not Java's is no migration.
 */
function mayMigrate(session: DatabaseBackend): boolean {
  return (
    session.mayLock !== false ||
    session.application === jdbcApplication ||
    isHidden(session) ||
    session.state !== 'idle'
  )
}

function isHidden({ query }: DatabaseBackend): boolean {
  return query === null
}

/** Milliseconds that the log, read before the row, lags behind: a lock taken later may be the waiter's own. */
const lagMs = 5000
/** Milliseconds in a quarter of an hour: zones are whole quarters apart */
const quarterMs = 900_000

/**
 * Returns the last log record about the lock if it says that the service does not get it; otherwise null. A service
 * that waits may get it yet.
 */
export function lastWait(records: readonly LogRecord[]): LogRecord | null {
  const { lockWaiting, lockRefused, lockTaken } = logSignatures
  const last = records.findLast(({ text }) =>
    [lockWaiting, lockRefused, lockTaken].some((signature) => signature.test(text)),
  )
  return last === undefined || lockTaken.test(last.text) ? null : last
}

/**
 * True if the last log record about the lock says that it was taken. Compares its time with the row's, as far as both
 * are known.
 */
function tookIt(
  records: readonly LogRecord[],
  granted: Granted | null,
  { offsetMs, uncertaintyMs }: LockSituation['clock'],
): boolean {
  const { lockTaken, lockReleased } = logSignatures
  const last = records.findLast(({ text }) => lockTaken.test(text) || lockReleased.test(text))
  if (last === undefined || !lockTaken.test(last.text)) return false
  if (last.at === null || granted === null) return true
  const at = last.at.getTime() + offsetMs
  const slack = uncertaintyMs + lagMs
  return at >= granted.earliest.getTime() - slack && at <= granted.latest.getTime() + slack
}

/** True if the log of the previous process ends with this very lock being taken. `recent`: the records since then. */
function tookItBefore(
  records: readonly LogRecord[],
  recent: readonly LogRecord[],
  granted: Granted | null,
  clock: LockSituation['clock'],
): boolean {
  const { lockTaken, lockReleased } = logSignatures
  const before = records.slice(0, records.length - recent.length)
  const last = before.findLast(({ text }) => lockTaken.test(text) || lockReleased.test(text))
  if (granted === null || last?.at == null || recent.some(({ text }) => lockTaken.test(text))) return false
  // if the lock's time may lie anywhere within a day, a record within that day proves nothing
  return granted.latest.getTime() - granted.earliest.getTime() < 2 * 3_600_000 && tookIt(before, granted, clock)
}

/** Returns the service's instances, or one stand-in if the platform knows only that the service runs. */
function instancesOf({ status, machines }: Surroundings): readonly ServiceInstance[] | null {
  if (status === null) return null
  // an instance that fails again and again may run at this instant
  if (status.state !== 'running') return status.instances
  const [name = 'this machine'] = machines ?? []
  return status.instances.length > 0
    ? status.instances
    : [{ name: 'the service', host: name, pid: null, startedAt: null }]
}
