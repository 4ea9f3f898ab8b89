import type { DatabaseBackend, ServiceInstance } from '../../core/sources.ts'
import { isLockStatement } from '../../knowledge/lock.ts'
import { listed, moment, span } from './format.ts'
import type { Granted } from './lock-time.ts'

/** All that is known about who may hold the change-log lock. Times are the database's, except those of the instances. */
export interface LockSituation {
  /** from `lockedby`; null: nobody is named */
  host: string | null
  granted: Granted | null
  now: Date
  databaseStartedAt: Date
  /** sessions of the service's user alone; null: they cannot be seen */
  backends: readonly DatabaseBackend[] | null
  /** the service's instances; null: the platform cannot be asked */
  instances: readonly ServiceInstance[] | null
  /** how far the database's clock is ahead of that of the instances, and how sure that is */
  clock: { offsetMs: number; uncertaintyMs: number }
  /** the running service's own log shows it waiting for this very lock */
  waits: boolean
  /** a pooler lends its connections: how old they are says nothing of the clients behind it */
  pooled: boolean
  /** users can work with the service, so its own sessions are no sign of a migration */
  up: boolean
}

export type LockHolding =
  | { holder: 'live'; who: string; sessions: readonly DatabaseBackend[] }
  | { holder: 'dead'; why: readonly string[] }
  | { holder: 'unproven'; why: readonly string[] }

/** Whether the holder lives (FIELD-NOTES.md 2): a session at work settles it, else process and sessions are weighed. */
export function judgeHolder(situation: LockSituation): LockHolding {
  const { granted, databaseStartedAt, now } = situation
  if (granted && databaseStartedAt > granted.latest) {
    return {
      holder: 'dead',
      why: [`PostgreSQL has been restarted since, at ${moment(databaseStartedAt)}: no session of that time is left`],
    }
  }
  const old = oldSessions(situation)
  const working = old?.filter((session) => isWorking(session) && !isOrdinaryWork(session, situation)) ?? []
  if (working.length > 0)
    return { holder: 'live', who: listed(working.map((session) => describeSession(session, now))), sessions: working }
  return judgeProcess(situation, old)
}

function judgeProcess(situation: LockSituation, old: readonly DatabaseBackend[] | null): LockHolding {
  const { host, instances } = situation
  const gone = old?.length === 0 && situation.granted !== null && !situation.pooled ? ['no database session that is as old as the lock is left'] : []
  if (instances === null)
    return gone.length > 0
      ? dead(gone)
      : unproven(["the platform could not be asked for the service's instances", ...unseen(old, situation)])
  if (instances.length === 0) {
    const stopped = 'no instance of the service runs'
    return old === null || situation.pooled
      ? unproven([stopped, ...unseen(old, situation)])
      : dead([stopped, ...(gone.length > 0 ? gone : ['none of its database sessions is at work'])])
  }
  const own = host === null ? [] : instances.filter((instance) => isSameHost(instance.host, host))
  if (own.length === 0) {
    const strange = `${host ?? 'whoever holds it'} is none of the service's instances (${listed(instances.map((instance) => instance.host))})`
    return gone.length > 0 ? dead([strange, ...gone]) : unproven([strange, ...unseen(old, situation)])
  }
  const successors = own.filter((instance) => startedAfter(instance, situation))
  if (successors.length === own.length) {
    return dead([
      `the process that took it is gone: ${host} was started again at ${listed(successors.map(({ startedAt }) => moment(startedAt!)))}`,
      ...gone,
    ])
  }
  if (situation.up && instances.length === 1)
    return dead([`${host} is past its start: the service answers, and migrates before it does`, ...gone])
  if (situation.waits && instances.length === 1)
    return dead(['the service itself waits for it, and no other instance runs', ...gone])
  const older = own.find((instance) => startedBefore(instance, situation))
  if (older) return { holder: 'live', who: describeInstance(older), sessions: [] }
  return gone.length > 0
    ? dead(gone)
    : unproven([`whether ${host} took it before or after its last start cannot be told`, ...unseen(old, situation)])
}

function dead(why: readonly string[]): LockHolding {
  return { holder: 'dead', why }
}

function unproven(why: readonly string[]): LockHolding {
  return { holder: 'unproven', why }
}

function unseen(old: readonly DatabaseBackend[] | null, { pooled }: LockSituation): string[] {
  if (pooled) return ["a pooler stands before the database and lends out its sessions, so that of the holder cannot be told"]
  return old === null
    ? ['other sessions of the database may not be seen (GRANT pg_read_all_stats)']
    : ['a database session as old as the lock is still open']
}

/** Sessions that were there when the lock was taken. */
function oldSessions({ backends, granted, now }: LockSituation): DatabaseBackend[] | null {
  const latest = granted?.latest ?? now
  return backends?.filter(({ startedAt }) => startedAt !== null && startedAt <= latest) ?? null
}

/** Whether a session may well be that of the service at its usual work, or waiting, where its age says nothing against it. */
function isOrdinaryWork({ startedAt }: DatabaseBackend, { granted, instances, host, clock, up, waits }: LockSituation): boolean {
  const starts = (instances ?? []).flatMap((instance) => instance.startedAt ?? [])
  const isNoHolder = up || (waits && instances?.length === 1)
  if (!isNoHolder || startedAt === null || starts.length === 0) return false
  const start = Math.min(...starts.map((at) => at.getTime())) + clock.offsetMs - clock.uncertaintyMs
  const isExact = granted !== null && granted.earliest.getTime() === granted.latest.getTime()
  const isAlone = instances?.length === 1 && host !== null && isSameHost(instances[0]!.host, host)
  return startedAt.getTime() >= start && (!isExact || isAlone)
}

/** At work on something else than getting the lock: whoever waits for it sits in a transaction too (SERVERS.md, PostgreSQL). */
function isWorking({ state, query }: DatabaseBackend): boolean {
  if (state === null || state === 'idle' || state === 'disabled' || query === null || isLockStatement(query)) return false
  return state === 'active' || !/^\s*(BEGIN|START|COMMIT|ROLLBACK|SET|SHOW|DISCARD)\b/i.test(query)
}

/** Container ids are shortened to 12 characters where they serve as host names. */
function isSameHost(instance: string, host: string): boolean {
  const a = instance.toLowerCase()
  const b = host.toLowerCase()
  return a === b || (/^[0-9a-f]{12,64}$/.test(a) && /^[0-9a-f]{12,64}$/.test(b) && (a.startsWith(b) || b.startsWith(a)))
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
