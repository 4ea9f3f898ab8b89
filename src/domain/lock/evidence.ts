import { counted, firstLine, listed, moment, span } from '../../core/format.ts'
import { isTimeZone, localTimeReader, parseLocalTime } from '../../core/local-time.ts'
import type {
  ChangelogLockRow,
  DatabaseBackend,
  DatabaseSource,
  ServiceOrigin,
  ServiceSource,
} from '../../core/sources.ts'
import { sql } from '../../core/sql-text.ts'
import { changelogLock, isLockStatement, otherPrograms, shells } from '../../knowledge/lock.ts'
import { logSignatures } from '../../knowledge/log-signatures.ts'
import { psql, settingLines } from '../evidence.ts'
import { sinceStart } from '../service.ts'
import type { LockSituation, Surroundings } from './situation.ts'

/**
 * Returns sessions of the service's users that may be the holder's, whatever they do and however old they are: an
 * unknown pooler may have lent out a young one. Leaves out sessions of other programs, and of the service's own
 * instances, of which the platform tells more. Null if the sessions cannot be seen.
 */
export function openSessions(situation: LockSituation): DatabaseBackend[] | null {
  return situation.backends?.filter((session) => !isOfAnother(session) && !isOwn(session, situation)) ?? null
}

/** Returns the sessions of the service's instances, by where they come from. */
export function ownSessions(situation: LockSituation): DatabaseBackend[] {
  return (situation.backends ?? []).filter((session) => !isOfAnother(session) && isOwn(session, situation))
}

function isOfAnother({ application, state, query }: DatabaseBackend): boolean {
  return otherPrograms.test(application) || (state === 'idle' && shells.test(application) && isReading(query))
}

/** True if a statement only reads: a person at a shell looks around, and does not migrate. */
function isReading(query: string | null): boolean {
  return (
    query !== null &&
    (query === '' ||
      (/^\s*(?:SELECT|SHOW|TABLE|VALUES)\b/i.test(query) &&
        !/\b(?:INTO|FOR\s{1,9}(?:NO\s{1,9}KEY\s{1,9})?UPDATE)\b/i.test(query)))
  )
}

/**
 * True if a session of a user other than the service's may be the holder's. A session at work that may take the lock
 * always may: that person may go through a pooler of their own. A session at rest may not if it is younger than the
 * lock, in every zone, and no pooler can be there.
 */
export function mayHold(
  session: DatabaseBackend,
  { granted, pooler, poolerDoubt }: Pick<LockSituation, 'granted' | 'pooler' | 'poolerDoubt'>,
): boolean {
  if (isOfAnother(session)) return false
  if (session.state !== null && isBusy(session) && session.mayLock !== false) return true
  return (
    pooler !== null ||
    poolerDoubt !== null ||
    granted === null ||
    session.startedAt === null ||
    session.startedAt <= granted.latestAnywhere
  )
}

/** True if a session comes from an instance of the service, and from nobody else. */
function isOwn(session: DatabaseBackend, situation: LockSituation): boolean {
  return originOf(session, situation) !== undefined
}

/** Returns the part of the service that a session comes from; undefined if it comes from elsewhere. */
export function originOf(
  { clientAddress, clientPort, startedAt }: DatabaseBackend,
  { origins, ports, pooler, instances, clock }: LockSituation,
): ServiceOrigin | undefined {
  if (pooler !== null || clientAddress === null) return undefined
  const found = origins?.find(
    (it) =>
      it.address === clientAddress.toLowerCase() &&
      (it.port === null || (it.port === clientPort && (it.to === null || ports.includes(it.to)))),
  )
  // an older session belongs to a process before the container's restart, which left a statement behind
  return found?.port === null && isOlder(startedAt, found, { instances, clock }) ? undefined : found
}

function isOlder(
  startedAt: Date | null,
  { instance }: ServiceOrigin,
  { instances, clock }: Pick<LockSituation, 'instances' | 'clock'>,
): boolean {
  const began = instances?.find(({ name }) => name === instance)?.startedAt
  return (
    startedAt !== null &&
    began != null &&
    startedAt.getTime() < began.getTime() + clock.offsetMs - clock.uncertaintyMs - 2000
  )
}

/** Milliseconds that a statement of the service's daily work takes at most, as a rule */
const ordinaryMs = 5000

/**
 * True if a session of an instance that has finished starting is at its daily work: somebody may run Liquibase in the
 * same container or pod.
 */
export function isOrdinary(session: DatabaseBackend, situation: LockSituation): boolean {
  if (!isBusy(session)) return true
  const isItsOwn = typeof originOf(session, situation)?.port === 'number'
  const since = isItsOwn
    ? (session.transactionStartedAt ?? session.queryStartedAt)
    : (session.queryStartedAt ?? session.transactionStartedAt)
  // a known port shows whose session it is, not that its process has finished starting
  return (
    (isItsOwn || session.state === 'active') &&
    (since === null || situation.now.getTime() - since.getTime() < ordinaryMs)
  )
}

/**
 * True if a session works on something other than getting the lock: one that waits for it sits in a transaction too
 * (SERVERS.md, PostgreSQL).
 */
export function isWorking({ state, query }: DatabaseBackend): boolean {
  if (state === null || state === 'idle' || state === 'disabled' || query === null || isLockStatement(query))
    return false
  return state === 'active' || !/^(?:BEGIN|START|COMMIT|ROLLBACK|SET|SHOW|DISCARD)\b[^;]*;?$/i.test(query.trim())
}

/** True if in a transaction, or at work: a service that waits for the lock is, once for each of its data sources. */
export function isBusy({ state }: DatabaseBackend): boolean {
  return state !== 'idle'
}

/** Describes a session and what it does, without the values in its statement. */
export function describeSession(
  { pid, state, query, queryStartedAt, transactionStartedAt }: DatabaseBackend,
  now: Date,
): string {
  const since = queryStartedAt ?? transactionStartedAt
  const statement = (query ?? '')
    .replaceAll(/'(?:[^']|'')*'/g, "'…'")
    .replaceAll(/\s+/g, ' ')
    .trim()
  return (
    `database session ${pid} (${state}${since ? ` for ${span(now.getTime() - since.getTime())}` : ''}: ` +
    `${firstLine(statement, 80)})`
  )
}

/**
 * Returns what else a person can look at to see whether the holder of the lock lives: sessions, the service, its log.
 * `user`: the database user of the query; another may see more or less.
 */
export function lockEvidence(
  database: DatabaseSource,
  situation: LockSituation,
  around: Surroundings,
  service: ServiceSource | null,
  user: string | null,
): string[] {
  const { backends, hidden, now, databaseStartedAt } = situation
  const busy = backends?.filter(({ state }) => state !== null && state !== 'idle') ?? []
  const sessions =
    backends === null
      ? ['(this database user has no permission to see all sessions)']
      : busy.length > 0
        ? busy.slice(0, 3).map((session) => describeSession(session, now))
        : [backends.length === 0 ? '(no sessions)' : `(${counted(backends.length, 'session')}, none at work)`]
  const asked = sql`SELECT pid, state, backend_start, query_start, query FROM pg_stat_activity
    WHERE datname = current_database() AND state <> 'idle'`
  const records = sinceStart(around.records, around.status) ?? around.records
  const waiting = records.findLast(
    ({ text }) => logSignatures.lockRefused.test(text) || logSignatures.lockWaiting.test(text),
  )
  return [
    psql(database.target, user, asked),
    ...sessions,
    ...(backends !== null && hidden.length > 0
      ? [`(this database user cannot see the statements of ${counted(hidden.length, 'session')} of other users)`]
      : []),
    psql(database.target, user, 'SELECT pg_postmaster_start_time()'),
    moment(databaseStartedAt),
    ...(service && around.status ? [service.commands.status, serviceLine(around)] : []),
    ...(service && waiting ? [service.commands.logs, firstLine(waiting.text)] : []),
  ]
}

/**
 * Returns both time zones if the configuration and the service's own settings name ones that put the lock at different
 * moments: its age depends on them. If the service's zone puts the lock in the future, only the configuration's counts.
 */
export function zoneEvidence(
  { lockGranted }: ChangelogLockRow,
  { granted }: LockSituation,
  { timeZone, ownTimeZone }: Surroundings,
  service: ServiceSource | null,
): string[] {
  const local = lockGranted === null ? null : parseLocalTime(lockGranted)
  if (!local || !service || timeZone === null || ownTimeZone === null) return []
  if (!isTimeZone(timeZone) || !isTimeZone(ownTimeZone.zone)) return []
  const [configured, own] = [timeZone, ownTimeZone.zone].map((zone) => localTimeReader(zone)(local))
  if (configured!.getTime() === own!.getTime()) return []
  const verdict =
    granted?.isAgreed === false
      ? `but the service's setting is ${ownTimeZone.zone}: one of the two is wrong`
      : `and overrides the service's setting, ${ownTimeZone.zone}`
  return [
    ...settingLines(service, ownTimeZone.setting, ownTimeZone.shown),
    `timeZone in the configuration is ${timeZone}, ${verdict}. ${changelogLock.columns.granted} means ` +
      `${moment(configured!)} in ${timeZone}, or ${moment(own!)} in ${ownTimeZone.zone}`,
  ]
}

function serviceLine({ status }: Surroundings): string {
  const starts =
    status?.instances.map(({ name, startedAt }) => (startedAt ? `${name} since ${moment(startedAt)}` : name)) ?? []
  return [status?.detail ?? '', ...(starts.length > 0 ? [listed(starts)] : [])].join('; ')
}
