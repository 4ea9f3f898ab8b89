import type { DatabaseBackend, ServiceInstance } from '../../core/sources.ts'
import { isSameHost } from '../../knowledge/lock.ts'
import { listed, moment } from './format.ts'
import { describeSession, doubtfulSessions, isOld, isWorking, openSessions } from './lock-sessions.ts'
import type { LockSituation } from './lock-situation.ts'

/** What is missing for a proof. */
export type Lack = 'platform' | 'rights' | 'pooler' | 'user' | 'stranger' | 'another-host' | 'another-process' | 'zone' | 'open-session' | 'young-session'

export type LockHolding =
  | { holder: 'live'; who: string; sessions: readonly DatabaseBackend[] }
  | { holder: 'dead'; why: readonly string[] }
  | { holder: 'unproven'; why: readonly string[]; lacks: readonly Lack[] }

/**
 * Whether the holder lives (FIELD-NOTES.md 2). A session at work, or the process that took the lock, shows that it does. That it is
 * dead takes both: its process is gone, and so is its session, which goes on until its statement ends. Whatever cannot be seen
 * leaves it unproven.
 */
export function judgeHolder(situation: LockSituation): LockHolding {
  const { databaseStartedAt, now } = situation
  if (isOfFormerDatabase(situation)) {
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
  const doubts = unseen(situation, open)
  const missing = [...('lack' in process ? [process] : []), ...doubts]
  const gone = doubts.length === 0 ? [withoutSession(situation)] : []
  if (missing.length === 0 && 'gone' in process) return { holder: 'dead', why: [process.gone, ...gone] }
  return {
    holder: 'unproven',
    why: [...missing.map(({ text }) => text), ...('gone' in process ? [process.gone] : []), ...gone],
    lacks: missing.map(({ lack }) => lack),
  }
}

/**
 * Whether the lock is older than the database's last start. Where that hangs on a time zone that may be another, whoever is at work
 * now, or hides it, may have taken it since.
 */
function isOfFormerDatabase(situation: LockSituation): boolean {
  const { granted, databaseStartedAt, isTimeZoneSure, backends, hidden } = situation
  if (granted === null || databaseStartedAt <= granted.latest) return false
  if (databaseStartedAt > granted.latestAnywhere) return true
  if (!isKnown(situation)) return false
  return (isTimeZoneSure || (backends !== null && hidden.length === 0)) && doubtfulSessions(situation).length === 0
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
    const text = `${one} took it after the service was started there, which answers, and by its own log does not hold it: another process may be at work on it`
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
function unseen(situation: LockSituation, open: readonly DatabaseBackend[] | null): Missing[] {
  const { pooled, strangers, hidden, usersKnown, granted, isTimeZoneSure, now } = situation
  const missing: Missing[] = []
  const unread = hidden.filter((session) => isOld(session, granted))
  if (open === null) missing.push({ lack: 'rights', text: 'other sessions of the database may not be seen (GRANT pg_read_all_stats)' })
  else if (unread.length > 0) {
    const text = `what ${usersOf(unread)} does in the database may not be seen, nor since when (${sample(unread)}; GRANT pg_read_all_stats)`
    missing.push({ lack: 'rights', text })
  }
  if (pooled)
    missing.push({ lack: 'pooler', text: 'a pooler stands before the database and lends out its sessions, so that of the holder cannot be told' })
  else if (open !== null && open.length > 0) {
    missing.push({ lack: 'open-session', text: `a database session as old as the lock is still open: ${sample(open)}` })
  }
  const doubtful = doubtfulSessions(situation)
  if (doubtful.length > 0) {
    const which = listed(doubtful.slice(0, 3).map((session) => describeSession(session, now)))
    missing.push({ lack: 'young-session', text: `at work, and younger than the lock only if that was taken in the time zone that ${isTimeZoneSure ? 'the configuration names' : "the service's settings name"}: ${which}` })
  }
  const others = strangers.filter((session) => isOld(session, granted) && isWorking(session))
  if (others.length > 0) {
    const since = `${usersOf(others)} is at work since before the lock was taken`
    missing.push(
      usersKnown
        ? { lack: 'stranger', text: `${since} (${sample(others)}), and may have taken it, though not as the service` }
        : { lack: 'user', text: `as whom the service signs in is not known, and ${since}` },
    )
  }
  return missing
}

function usersOf(sessions: readonly DatabaseBackend[]): string {
  return listed([...new Set(sessions.map(({ user }) => user ?? 'nobody that is named'))])
}

/** A few of them. */
function sample(sessions: readonly DatabaseBackend[]): string {
  return listed(sessions.slice(0, 3).map(({ pid, application }) => `${pid}${application === '' ? '' : ` of ${application}`}`))
}

function withoutSession({ granted }: LockSituation): string {
  return granted === null
    ? "no database session of the service's is left"
    : 'no database session that is as old as the lock is left'
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
