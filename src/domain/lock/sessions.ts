import type { DatabaseBackend, ServiceOrigin } from '../../core/sources.ts'
import { isLockStatement, otherPrograms, shells } from '../../knowledge/lock.ts'
import { firstLine, span } from '../../core/format.ts'
import type { LockSituation } from './situation.ts'

/**
 * Sessions of the service's users that may be the holder's, whatever they do and however old they are (a pooler that
 * nobody knows of may have lent out a young one): all but those of other programs, and those of the service's own
 * instances, of which the platform tells more. Null: they cannot be seen.
 */
export function openSessions(situation: LockSituation): DatabaseBackend[] | null {
  return situation.backends?.filter((session) => !isOfAnother(session) && !isOwn(session, situation)) ?? null
}

/** Sessions of the service's instances, by where they come from. */
export function ownSessions(situation: LockSituation): DatabaseBackend[] {
  return (situation.backends ?? []).filter((session) => !isOfAnother(session) && isOwn(session, situation))
}

function isOfAnother({ application, state, query }: DatabaseBackend): boolean {
  return otherPrograms.test(application) || (state === 'idle' && shells.test(application) && isReading(query))
}

/** Whether a statement only reads: a person at a shell looks around, and does not migrate. */
function isReading(query: string | null): boolean {
  return (
    query !== null &&
    (query === '' ||
      (/^\s*(?:SELECT|SHOW|TABLE|VALUES)\b/i.test(query) &&
        !/\b(?:INTO|FOR\s{1,9}(?:NO\s{1,9}KEY\s{1,9})?UPDATE)\b/i.test(query)))
  )
}

/**
 * Whether a session of another user than the service's may be the holder's. One that may take the lock and is at work
 * always may: that person may go through a pooler of their own. One at rest may not where it is younger than the lock,
 * in every zone, and no pooler can be there.
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

/** Whether it comes from an instance of the service, and from nobody else. */
function isOwn(session: DatabaseBackend, situation: LockSituation): boolean {
  return originOf(session, situation) !== undefined
}

/** From where of the service's it comes; undefined: from elsewhere. */
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
  // of a process that was there before the container was started again, and left a statement behind
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

/** a statement of the service's daily work takes no longer, as a rule */
const ordinaryMs = 5000

/**
 * Whether a session of an instance that is past its start is at its daily work: somebody may run Liquibase in the same
 * container or pod.
 */
export function isOrdinary(session: DatabaseBackend, situation: LockSituation): boolean {
  if (!isBusy(session)) return true
  const isItsOwn = typeof originOf(session, situation)?.port === 'number'
  const since = isItsOwn
    ? (session.transactionStartedAt ?? session.queryStartedAt)
    : (session.queryStartedAt ?? session.transactionStartedAt)
  // of a process of its own it is known that it is no other's, not that it is past its start
  return (
    (isItsOwn || session.state === 'active') &&
    (since === null || situation.now.getTime() - since.getTime() < ordinaryMs)
  )
}

/**
 * At work on something else than getting the lock: whoever waits for it sits in a transaction too (SERVERS.md,
 * PostgreSQL).
 */
export function isWorking({ state, query }: DatabaseBackend): boolean {
  if (state === null || state === 'idle' || state === 'disabled' || query === null || isLockStatement(query))
    return false
  return state === 'active' || !/^(?:BEGIN|START|COMMIT|ROLLBACK|SET|SHOW|DISCARD)\b[^;]*;?$/i.test(query.trim())
}

/** In a transaction, or at work: what a service is that waits for the lock, once for each of its data sources. */
export function isBusy({ state }: DatabaseBackend): boolean {
  return state !== 'idle'
}

/** A session and what it does, without the values in its statement. */
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
