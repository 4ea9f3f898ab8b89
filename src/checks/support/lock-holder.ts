import type { DatabaseBackend, ServiceInstance } from '../../core/sources.ts'
import { isLockStatement } from '../../knowledge/lock.ts'
import { listed, moment, span } from './format.ts'
import type { Granted } from './lock-time.ts'

/** All that is known about who may hold the change-log lock. Times are the database's, except those of the instances. */
export interface LockSituation {
  /** from `lockedby`; null: nobody is named, or `localhost`, which every machine is to itself */
  host: string | null
  granted: Granted | null
  now: Date
  databaseStartedAt: Date
  /** sessions of the service's users alone; null: they cannot be seen */
  backends: readonly DatabaseBackend[] | null
  /** sessions of others that may be the holder's: all where it is not known as whom the service signs in, else those of Java's driver */
  strangers: readonly DatabaseBackend[]
  /** it is known as whom the service signs in */
  usersKnown: boolean
  /** the service's instances; null: the platform cannot be asked */
  instances: readonly ServiceInstance[] | null
  /** names of the machines on which the platform sees the service; null: not known */
  machines: readonly string[] | null
  /** how far the database's clock is ahead of that of the instances, and how sure that is */
  clock: { offsetMs: number; uncertaintyMs: number }
  /** the running service's own log shows it waiting for this very lock */
  waits: boolean
  /** the running service's own log shows that it has taken the lock since it was started */
  took: boolean
  /** a pooler lends its connections: how old they are says nothing of the clients behind it */
  pooled: boolean
  /** the service tells its health, which it does once it has migrated: its own sessions are no sign of a migration */
  answers: boolean
}

/** What is missing for a proof. */
export type Lack = 'platform' | 'rights' | 'pooler' | 'user' | 'stranger' | 'another-host' | 'another-process' | 'zone' | 'open-session'

export type LockHolding =
  | { holder: 'live'; who: string; sessions: readonly DatabaseBackend[] }
  | { holder: 'dead'; why: readonly string[] }
  | { holder: 'unproven'; why: readonly string[]; lacks: readonly Lack[] }

/** a statement of the service's daily work takes no longer, as a rule */
const ordinaryMs = 5000

/**
 * Whether the holder lives (FIELD-NOTES.md 2). A session at work, or the process that took the lock, shows that it does. That it is
 * dead takes both: its process is gone, and so is its session, which goes on until its statement ends. Whatever cannot be seen
 * leaves it unproven.
 */
export function judgeHolder(situation: LockSituation): LockHolding {
  const { granted, databaseStartedAt, now } = situation
  if (granted && databaseStartedAt > (isKnown(situation) ? granted.latest : granted.latestAnywhere)) {
    return {
      holder: 'dead',
      why: [`PostgreSQL has been restarted since, at ${moment(databaseStartedAt)}: no session of that time is left`],
    }
  }
  const open = openSessions(situation)
  const working = open?.filter(isWorking) ?? []
  if (working.length > 0)
    return { holder: 'live', who: listed(working.map((session) => describeSession(session, now))), sessions: working }
  const process = judgeProcess(situation)
  if ('lives' in process) return { holder: 'live', who: describeInstance(process.lives), sessions: [] }
  const missing = [...('lack' in process ? [process] : []), ...unseen(situation, open)]
  const gone = open?.length === 0 && !situation.pooled ? [withoutSession(situation)] : []
  if (missing.length === 0 && 'gone' in process) return { holder: 'dead', why: [process.gone, ...gone] }
  return {
    holder: 'unproven',
    why: [...missing.map(({ text }) => text), ...('gone' in process ? [process.gone] : []), ...gone],
    lacks: missing.map(({ lack }) => lack),
  }
}

function hostsOf({ machines, instances }: LockSituation): string[] {
  return [...new Set([...(machines ?? []), ...(instances ?? []).map((instance) => instance.host)])]
}

/** Whether it was taken where the service runs, or by nobody that is named, and so in the service's time zone. */
function isKnown(situation: LockSituation): boolean {
  const { host } = situation
  return host === null || hostsOf(situation).some((name) => isSameHost(name, host))
}

interface Missing {
  lack: Lack
  text: string
}

/** What the platform shows of the process that took the lock. */
function judgeProcess(situation: LockSituation): { gone: string } | { lives: ServiceInstance } | Missing {
  const { host, instances, waits, took, answers, granted } = situation
  if (instances === null) return { lack: 'platform', text: "the platform could not be asked for the service's instances" }
  if (host !== null && !isKnown(situation)) {
    const names = hostsOf(situation)
    const text =
      instances.length > 0
        ? `${host} is none of the service's instances (${listed(instances.map((instance) => instance.host))})`
        : `no instance of the service runs ${names.length > 0 ? `on ${listed(names)}` : 'here'}, and what runs on ${host} is not known`
    return { lack: 'another-host', text }
  }
  if (instances.length === 0) return { gone: 'no instance of the service runs' }
  const own = host === null ? instances : instances.filter((instance) => isSameHost(instance.host, host))
  if (own.every((instance) => startedAfter(instance, situation))) {
    const starts = listed(own.map(({ startedAt }) => moment(startedAt!)))
    return { gone: `the process that took it is gone: ${host ?? 'the service'} was started again at ${starts}` }
  }
  const one = host ?? own[0]!.host
  if (answers && instances.length === 1) {
    if (took || granted === null) return { gone: `${one} is past its start: the service answers, and migrates before it does` }
    if (!own.some((instance) => startedBefore(instance, situation))) return { lack: 'zone', text: beforeOrAfter(one) }
    const text = `${one} took it after the service was started there, which answers, and does not log that it took it: another process may be at work on it`
    return { lack: 'another-process', text }
  }
  if (waits && instances.length === 1) return { gone: 'the service itself waits for it, and no other instance runs' }
  const older = host === null ? undefined : own.find((instance) => startedBefore(instance, situation))
  if (older) return { lives: older }
  return { lack: 'zone', text: beforeOrAfter(one) }
}

function beforeOrAfter(host: string): string {
  return `whether ${host} took it before or after its last start cannot be told`
}

/** What the database does not show of the session that took the lock. */
function unseen({ pooled, strangers, usersKnown, granted }: LockSituation, open: readonly DatabaseBackend[] | null): Missing[] {
  const missing: Missing[] = []
  if (open === null) missing.push({ lack: 'rights', text: 'other sessions of the database may not be seen (GRANT pg_read_all_stats)' })
  if (pooled)
    missing.push({ lack: 'pooler', text: 'a pooler stands before the database and lends out its sessions, so that of the holder cannot be told' })
  else if (open !== null && open.length > 0) {
    const which = listed(open.slice(0, 3).map(({ pid, application }) => `${pid}${application === '' ? '' : ` of ${application}`}`))
    missing.push({ lack: 'open-session', text: `a database session as old as the lock is still open: ${which}` })
  }
  const others = strangers.filter((session) => isOld(session, granted) && isWorking(session))
  if (others.length > 0) {
    const users = listed([...new Set(others.map(({ user }) => user ?? 'nobody that is named'))])
    const since = `${users} is at work since before the lock was taken`
    missing.push(
      usersKnown
        ? { lack: 'stranger', text: `${since} (${listed(others.slice(0, 3).map(({ pid, application }) => `${pid} of ${application}`))}), and may have taken it, though not as the service` }
        : { lack: 'user', text: `as whom the service signs in is not known, and ${since}` },
    )
  }
  return missing
}

function withoutSession({ granted }: LockSituation): string {
  return granted === null
    ? "no database session of the service's is left"
    : 'no database session that is as old as the lock is left'
}

/**
 * Sessions that may be the holder's: those that were there when the lock was taken, without those of a service that is shown not
 * to hold it. Null: they cannot be seen.
 */
function openSessions(situation: LockSituation): DatabaseBackend[] | null {
  const { backends, granted, pooled } = situation
  return backends?.filter((session) => (pooled || isOld(session, granted)) && !isOfTheService(session, situation)) ?? null
}

function isOld({ startedAt }: DatabaseBackend, granted: Granted | null): boolean {
  return granted === null || startedAt === null || startedAt <= granted.latest
}

/** Whether a session may well be that of the service at its usual work, or waiting, since it is not what holds the lock. */
function isOfTheService(session: DatabaseBackend, { instances, host, clock, answers, waits, now, pooled }: LockSituation): boolean {
  const [instance, ...others] = instances ?? []
  if (!instance?.startedAt || session.startedAt === null || others.length > 0) return false
  if (!(answers || waits) || (host !== null && !isSameHost(instance.host, host))) return false
  const start = instance.startedAt.getTime() + clock.offsetMs - clock.uncertaintyMs
  if (!pooled && session.startedAt.getTime() < start) return false
  const since = session.queryStartedAt ?? session.transactionStartedAt
  // who waits is not at work on anything else
  if (!isWorking(session) || !answers) return !isWorking(session)
  return since === null || now.getTime() - since.getTime() < ordinaryMs
}

/** At work on something else than getting the lock: whoever waits for it sits in a transaction too (SERVERS.md, PostgreSQL). */
function isWorking({ state, query }: DatabaseBackend): boolean {
  if (state === null || state === 'idle' || state === 'disabled' || query === null || isLockStatement(query)) return false
  return state === 'active' || !/^\s*(BEGIN|START|COMMIT|ROLLBACK|SET|SHOW|DISCARD)\b[^;]*;?\s*$/i.test(query)
}

/** Container ids are shortened to 12 characters where they serve as host names, and a domain may be left out. */
function isSameHost(instance: string, host: string): boolean {
  const a = instance.toLowerCase()
  const b = host.toLowerCase()
  if (a === b || (/^[0-9a-f]{12,64}$/.test(a) && /^[0-9a-f]{12,64}$/.test(b) && (a.startsWith(b) || b.startsWith(a)))) return true
  return !/^[\d.]+$/.test(a) && !/^[\d.]+$/.test(b) && (a.startsWith(`${b}.`) || b.startsWith(`${a}.`))
}

function startedAfter({ startedAt }: ServiceInstance, { granted, clock }: LockSituation): boolean {
  return (
    granted !== null &&
    startedAt !== null &&
    startedAt.getTime() + clock.offsetMs - clock.uncertaintyMs > granted.latest.getTime()
  )
}

function startedBefore({ startedAt }: ServiceInstance, { granted, clock }: LockSituation): boolean {
  return (
    granted !== null &&
    startedAt !== null &&
    startedAt.getTime() + clock.offsetMs + clock.uncertaintyMs <= granted.earliest.getTime()
  )
}

function describeInstance({ name, host, pid }: ServiceInstance): string {
  return pid === null ? `${name} on ${host}` : `${name} on ${host} (process ${pid})`
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
