import type { DatabaseBackend, ServiceOrigin } from '../../core/sources.ts'
import { isLockStatement, otherPrograms, shells } from '../../knowledge/lock.ts'
import { firstLine, span } from '../../core/format.ts'
import type { LockSituation } from './situation.ts'

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
  return `database session ${pid} (${state}${since ? ` for ${span(now.getTime() - since.getTime())}` : ''}: ${firstLine(statement, 80)})`
}
