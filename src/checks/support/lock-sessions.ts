import type { DatabaseBackend } from '../../core/sources.ts'
import { isLockStatement, isSameHost } from '../../knowledge/lock.ts'
import { span } from './format.ts'
import type { LockSituation } from './lock-situation.ts'
import type { Granted } from './lock-time.ts'

/** a statement of the service's daily work takes no longer, as a rule */
const ordinaryMs = 5000
/** most take no longer than this */
const briefMs = 1000

/**
 * Sessions that may be the holder's: those that were there when the lock was taken, without those of a service that is shown not
 * to hold it. Null: they cannot be seen.
 */
export function openSessions(situation: LockSituation): DatabaseBackend[] | null {
  const { backends, granted, pooled } = situation
  return backends?.filter((session) => (pooled || isOld(session, granted)) && !isOfTheService(session, situation)) ?? null
}

/**
 * Sessions at work that were there when the lock was taken only if that was in another time zone than is named: a JVM may be told one
 * on its command line. Those of the service's daily work are left out; where the configuration names the zone, it is believed while
 * the service answers, since until it does, whoever is at work migrates.
 */
export function doubtfulSessions(situation: LockSituation): DatabaseBackend[] {
  const { backends, strangers, granted, isTimeZoneSure, answers } = situation
  if ((isTimeZoneSure && answers) || granted === null) return []
  const others = (backends ?? []).filter((session) => !isOfTheService(session, situation, briefMs))
  return [...others, ...strangers].filter((session) => {
    const isYoung = !isOld(session, granted)
    return isYoung && session.startedAt! <= granted.latestAnywhere && isWorking(session)
  })
}

export function isOld({ startedAt }: DatabaseBackend, granted: Granted | null): boolean {
  return granted === null || startedAt === null || startedAt <= granted.latest
}

/** Whether a session may well be that of the service at its usual work, or waiting, since it is not what holds the lock. */
function isOfTheService(
  session: DatabaseBackend,
  { instances, host, clock, answers, waits, now, pooled }: LockSituation,
  longestMs = ordinaryMs,
): boolean {
  const [instance, ...others] = instances ?? []
  if (!instance?.startedAt || session.startedAt === null || others.length > 0) return false
  if (!(answers || waits) || (host !== null && !isSameHost(instance.host, host))) return false
  const start = instance.startedAt.getTime() + clock.offsetMs - clock.uncertaintyMs
  if (!pooled && session.startedAt.getTime() < start) return false
  const since = session.queryStartedAt ?? session.transactionStartedAt
  // who waits is not at work on anything else
  if (!isWorking(session) || !answers) return !isWorking(session)
  return since === null || now.getTime() - since.getTime() < longestMs
}

/** At work on something else than getting the lock: whoever waits for it sits in a transaction too (SERVERS.md, PostgreSQL). */
export function isWorking({ state, query }: DatabaseBackend): boolean {
  if (state === null || state === 'idle' || state === 'disabled' || query === null || isLockStatement(query)) return false
  return state === 'active' || !/^\s*(BEGIN|START|COMMIT|ROLLBACK|SET|SHOW|DISCARD)\b[^;]*;?\s*$/i.test(query)
}

/** A session and what it does, without the values in its statement. */
export function describeSession({ pid, state, query, queryStartedAt, transactionStartedAt }: DatabaseBackend, now: Date): string {
  const since = queryStartedAt ?? transactionStartedAt
  const statement = (query ?? '')
    .replaceAll(/'(?:[^']|'')*'/g, "'…'")
    .replaceAll(/\s+/g, ' ')
    .trim()
  const shown = statement.length > 80 ? `${statement.slice(0, 80)}…` : statement
  return `database session ${pid} (${state}${since ? ` for ${span(now.getTime() - since.getTime())}` : ''}: ${shown})`
}
