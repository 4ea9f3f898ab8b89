import { traitsOf } from '../../knowledge/platforms.ts'
import { isIP } from 'node:net'
import { asUtc, parseLocalTime } from '../../core/local-time.ts'
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
import { namedTimeZone } from '../../knowledge/jvm-time-zone.ts'
import { liquibaseSettings } from '../../knowledge/liquibase-settings.ts'
import type { LiquibaseSettings } from '../../knowledge/liquibase-settings.ts'
import type { NamedTimeZone } from '../../knowledge/jvm-time-zone.ts'
import { databaseUse } from '../../knowledge/database-use.ts'
import type { SettingLookup } from '../../knowledge/database-use.ts'
import { PartialSettings } from '../../core/partial-settings.ts'
import { betweenIt } from './route.ts'
import type { KnownUse } from './route.ts'
import { readGranted } from './time.ts'
import type { Granted } from './time.ts'
import { contradictionOf } from './zone.ts'
import { isUp, recentRecords, sinceStart } from '../service.ts'
import { had, tolerant } from '../wanted.ts'

/**
 * All that is known about who may hold the change-log lock. Times are the database's, except those of the instances.
 */
export interface LockSituation {
  /** from `lockedby`; null: nobody is named, or `localhost`, which every machine is to itself */
  host: string | null
  /** in place of a host, where `lockedby` names an address alone: Docker gives each of its hosts the same ones */
  address: string | null
  granted: Granted | null
  now: Date
  databaseStartedAt: Date
  /** the server is a standby */
  inRecovery: boolean
  /** sessions of the service's users alone; null: they cannot be seen */
  backends: readonly DatabaseBackend[] | null
  /**
   * sessions of others that may be the holder's: all where it is not known as whom the service signs in, else all but
   * idle ones that may not take the lock
   */
  strangers: readonly DatabaseBackend[]
  /** those of them that hide what they do, and for how long, from whom this program is */
  hidden: readonly DatabaseBackend[]
  /** it is known as whom the service signs in */
  usersKnown: boolean
  /** the service's instances; null: the platform cannot be asked */
  instances: readonly ServiceInstance[] | null
  /** names of the machines on which the platform sees the service; null: not known */
  machines: readonly string[] | null
  /** the host was a container or pod of the service's, and nothing runs in it any more */
  hasEnded: boolean
  /** how far the database's clock is ahead of that of the instances, and how sure that is */
  clock: { offsetMs: number; uncertaintyMs: number }
  /** the running service's own log shows it waiting for this very lock */
  waits: boolean
  /** how far the clock that writes that log is ahead of the database's, in milliseconds; null: nothing shows that it is */
  logAheadMs: number | null
  /**
   * the running service's own log shows that it took this very lock since it was started, and not that it gave it back
   */
  took: boolean
  /** its log shows that its process before the present one took this very lock, and not that it gave it back */
  tookBefore: boolean
  /**
   * what lends out connections to the database, for people: how old they are, and whose, says nothing of the clients
   * behind it; null: nothing is known to
   */
  pooler: string | null
  /** why it is not known that no pooler is there, for people; null: it is known that none is, or one is known */
  poolerDoubt: string | null
  /** from where the service's instances connect; null: that cannot be seen */
  origins: readonly ServiceOrigin[] | null
  /** of the database's server: as this program reaches it, and its own */
  ports: readonly number[]
  /** the service tells its health, which it does once it has migrated: its own sessions are no sign of a migration */
  answers: boolean
}

/** What is known around the databases, asked once for all of them. */
export interface Surroundings extends KnownUse {
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
  ownTimeZone: NamedTimeZone | null
  /** as `ServiceSource.hasEnded`; false where that cannot be told */
  hasEnded: (host: string) => Promise<boolean>
  /** from where its instances connect, asked anew; null: that cannot be seen */
  origins: () => Promise<readonly ServiceOrigin[] | null>
  /** what they say of its Liquibase there; null: they cannot be read */
  liquibase: LiquibaseSettings | null
  /** as whom the service's Liquibase uses its database; null: not known */
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
 * The service's time zone, and its use of databases: from the deployment, else from its settings, where they can be
 * read.
 */
async function ofSettings(
  service: ServiceSource | null,
  deployment: Deployment,
): Promise<Pick<Surroundings, 'timeZone' | 'ownTimeZone' | 'use' | 'liquibase' | 'user'>> {
  const environment = service && (await tolerant(service.environment()))
  // settings may hold a password; nothing but zone, hosts, users, and names of schemas and of a table, is taken from
  // them
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

/** names that every machine has for itself, and Java's for one without a name */
const unnamed = ['localhost', 'localhost.localdomain', 'unknown', '']

/** Asks the database for what is needed to judge who holds this row, and whether the holder lives. */
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
  // a connection that was there before is there still, or it is not the holder's
  const origins = await around.origins()
  const ports = [portOf(database.target), identity.port].flatMap((port) => port ?? [])
  const between = betweenIt(database, identity, ports, around)
  const now = new Date(Date.now() + clock.offsetMs)
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

/** By the time zones that are named, unless something at hand shows that none of them is the writer's. */
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
 * Whether the log shows that the service waited for this lock when somebody already had it, whatever time zone that was
 * written in: what it waited for before, it may have got since.
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
 * How far a record of the log is ahead of the database's clock: it was written in another time zone than it is read in,
 * or by a clock that is wrong. In milliseconds; null: it is not.
 */
function aheadMs(record: LogRecord | null, { clock, now }: Pick<LockSituation, 'clock' | 'now'>): number | null {
  if (record?.at == null) return null
  const ahead = record.at.getTime() + clock.offsetMs - now.getTime()
  return ahead > clock.uncertaintyMs + lagMs ? ahead : null
}

/**
 * The same where no time zone explains it: those lie whole quarters of an hour apart, less the age of the record, which
 * is written again with each look at the lock.
 */
function clockAheadMs(record: LogRecord | null, at: Pick<LockSituation, 'clock' | 'now'>): number | null {
  const ahead = aheadMs(record, at)
  if (ahead === null) return null
  const slack = at.clock.uncertaintyMs + lagMs
  const over = ahead % quarterMs
  return over <= slack || quarterMs - over <= slack + 1000 * changelogLock.pollSeconds ? null : ahead
}

/** Whether the lock may be younger than what was read of the log. */
function mayBeNew(lockGranted: string | null, { now, clock }: Pick<LockSituation, 'clock' | 'now'>): boolean {
  const age = leastAgeMs(lockGranted, now)
  return age !== null && (age <= lagMs || age >= quarterMs - clock.uncertaintyMs - 1000)
}

/** How old it is at least: zones are quarters of an hour apart. */
function leastAgeMs(lockGranted: string | null, now: Date): number | null {
  const local = lockGranted === null ? null : parseLocalTime(lockGranted)
  return local && (((now.getTime() - asUtc(local).getTime()) % quarterMs) + quarterMs) % quarterMs
}

/**
 * How long until the log of a service that waits must show that it still does, with this lock taken; in milliseconds.
 */
export async function untilLogged(
  { lockGranted }: ChangelogLockRow,
  database: DatabaseSource,
  { records, status }: Surroundings,
): Promise<number> {
  const recent = sinceStart(records, status)
  if (recent === null || lastWait(recent) === null) return 0
  const clock = await database.clock()
  const now = new Date(Date.now() + clock.offsetMs)
  if (waitedSince(recent, lockGranted, { now, clock })) return 0
  const age = leastAgeMs(lockGranted, now) ?? 0
  const enough = lagMs + 1000 * changelogLock.pollSeconds
  if (age > enough && !mayBeNew(lockGranted, { now, clock })) return 0
  return (age <= enough ? enough - age : enough + quarterMs - age) + clock.uncertaintyMs + 100
}

/** `target` as `DatabaseSource` has it: host:port/database. */
function portOf(target: string): number | null {
  const port = /:(\d+)\//.exec(target)?.[1]
  return port === undefined ? null : Number(port)
}

/**
 * Whoever migrates by hand may do so as any user, and call the session what they like: one that may not take the lock,
 * does nothing, and is none of Java's is no migration.
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

/** The log, read before the row, lags behind: a lock that was taken later than this may be the waiter's own. */
const lagMs = 5000
/** zones are whole quarters of an hour apart */
const quarterMs = 900_000

/**
 * The last that the log has to say of the lock, where that is that the service does not get it: who waits may get it
 * yet.
 */
export function lastWait(records: readonly LogRecord[]): LogRecord | null {
  const { lockWaiting, lockRefused, lockTaken } = logSignatures
  const last = records.findLast(({ text }) =>
    [lockWaiting, lockRefused, lockTaken].some((signature) => signature.test(text)),
  )
  return last === undefined || lockTaken.test(last.text) ? null : last
}

/**
 * Whether the last that the log has to say of the lock is that it was taken, then when the row has it, as far as both
 * times are known.
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

/**
 * Whether what the log holds of the process before, of which `recent` is what came after, ends with this very lock
 * being taken.
 */
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
  // of a time that may lie anywhere within a day, nothing is shown by another that lies there
  return granted.latest.getTime() - granted.earliest.getTime() < 2 * 3_600_000 && tookIt(before, granted, clock)
}

/** A platform may know that the service runs and no more. */
function instancesOf({ status, machines }: Surroundings): readonly ServiceInstance[] | null {
  if (status === null) return null
  // what fails again and again may run at this instant
  if (status.state !== 'running') return status.instances
  const [name = 'this machine'] = machines ?? []
  return status.instances.length > 0
    ? status.instances
    : [{ name: 'the service', host: name, pid: null, startedAt: null }]
}
