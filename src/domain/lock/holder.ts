import type { DatabaseBackend, ServiceInstance } from '../../core/sources.ts'
import { commonAddress, holderText, isSameHost } from '../../knowledge/lock.ts'
import { counted, listed, moment, span } from '../../core/format.ts'
import {
  describeSession,
  isBusy,
  isOrdinary,
  isWorking,
  mayHold,
  openSessions,
  originOf,
  ownSessions,
} from './evidence.ts'
import type { LockSituation } from './situation.ts'

/** Why it cannot be proven that the holder of a lock is dead. */
export type Lack =
  | 'standby'
  | 'platform'
  | 'rights'
  | 'pooler'
  | 'route'
  | 'user'
  | 'stranger'
  | 'address'
  | 'another-host'
  | 'another-process'
  | 'zone'
  | 'clock'
  | 'open-session'

export type LockHolding =
  | { holder: 'live'; who: string; sessions: readonly DatabaseBackend[] }
  | { holder: 'dead'; why: readonly string[] }
  | { holder: 'unproven'; why: readonly string[]; lacks: readonly Lack[] }

/**
 * Judges whether the holder lives (FIELD-NOTES.md 2). A session at work, or the process that took the lock, shows that
 * it does. That it is dead takes both: its process is gone, and no open session may be its own, whatever that session
 * does and however old it is. A later start of PostgreSQL shows both. The named time zone counts only where no instance
 * can be migrating, or the log shows a restart since (`judgeProcess`). Whatever cannot be seen leaves it unproven.
 */
export function judgeHolder(situation: LockSituation): LockHolding {
  const { now } = situation
  const open = openSessions(situation)
  const own = ownSessions(situation)
  const process = judgeProcess(situation, own)
  const working = [...(open ?? []), ...('gone' in process || situation.answers ? [] : own)].filter(
    (session) => isWorking(session) && isAsOld(session, situation),
  )
  if (working.length > 0)
    return { holder: 'live', who: listed(working.map((session) => describeSession(session, now))), sessions: working }
  // a start of PostgreSQL ended all earlier sessions
  const isFormer = isOfFormerDatabase(situation) && situation.pooler === null && situation.poolerDoubt === null
  if ('lives' in process)
    return isFormer
      ? unproven([runsOn(process.lives)])
      : { holder: 'live', who: describeInstance(process.lives), sessions: [] }
  // a session at work now may belong to a script that wrote an old time
  if (isFormer && !mayBeAtWork(situation, open))
    return {
      holder: 'dead',
      why: [
        `PostgreSQL was restarted at ${moment(situation.databaseStartedAt)}, after the lock was taken, and ` +
          'this ended all earlier sessions',
      ],
    }
  const doubts = unseen(situation, open)
  const missing = [...('lack' in process ? [process] : []), ...doubts]
  const gone = doubts.every(({ lack }) => lack === 'route') ? [withoutSession(own)] : []
  if (missing.length === 0 && 'gone' in process) return { holder: 'dead', why: [process.gone, ...gone] }
  return {
    holder: 'unproven',
    why: [...missing.map(({ text }) => text), ...('gone' in process ? [process.gone] : []), ...gone],
    lacks: missing.map(({ lack }) => lack),
  }
}

/**
 * True if the lock is older than the database's last start, in any time zone. False on a standby, which has a start of
 * its own.
 */
function isOfFormerDatabase({ granted, databaseStartedAt, inRecovery, now }: LockSituation): boolean {
  // if the clock was set back since, the start may lie in the future
  return !inRecovery && granted !== null && databaseStartedAt > granted.latestAnywhere && databaseStartedAt <= now
}

/** True if anybody other than the service is at work in the database, or may be, unseen. */
function mayBeAtWork(situation: LockSituation, open: readonly DatabaseBackend[] | null): boolean {
  const others = [...situation.strangers, ...situation.hidden].filter((session) => mayHold(session, situation))
  return open === null || [...open, ...others].some(isBusy)
}

function hostsOf({ machines, instances }: LockSituation): string[] {
  return [...new Set([...(machines ?? []), ...(instances ?? []).map((instance) => instance.host)])]
}

/** True if the lock was taken where the service runs, or names no host. */
function isKnown(situation: LockSituation): boolean {
  const { host } = situation
  return host === null || hostsOf(situation).some((name) => isSameHost(name, host))
}

interface Missing {
  lack: Lack
  text: string
}

/** Judges what the platform shows of the process that took the lock. `own`: sessions of the service's instances. */
function judgeProcess(
  situation: LockSituation,
  own: readonly DatabaseBackend[],
): { gone: string } | { lives: ServiceInstance } | Missing {
  const { host, address, instances, waits, took, tookBefore, answers, granted } = situation
  const named = host === null ? null : holderText(host)
  if (instances === null) return { lack: 'platform', text: "the platform does not show the service's instances" }
  if (address !== null) {
    const why = commonAddress(address) ?? 'another machine may have the same address'
    const text = `the lock names only the address ${address}, and ${why}. Cannot tell which process took the lock`
    return { lack: 'address', text }
  }
  if (situation.hasEnded)
    return { gone: `the process that took the lock has ended: nothing runs in ${named!} any more` }
  if (host !== null && !isKnown(situation)) {
    const names = hostsOf(situation)
    const text =
      instances.length > 0
        ? `${named}, the host named in the lock, is not an instance of the service (instances: ` +
          `${listed(instances.map((instance) => instance.host))})`
        : `the lock names host ${named}, and testops-admin cannot see what runs there. No instance of the service ` +
          `is running ${names.length > 0 ? `on ${listed(names)}` : 'here'}`
    return { lack: 'another-host', text }
  }
  if (instances.length === 0) return { gone: 'no instance of the service is running' }
  const there = host === null ? instances : instances.filter((instance) => isSameHost(instance.host, host))
  if (there.length === 0)
    return {
      lack: 'another-host',
      text:
        `no instance of the service is named ${named!} (instances: ` +
        `${listed(instances.map((instance) => instance.host))}). Cannot see what else runs on machine ${named!}`,
    }
  const one = named ?? there[0]!.host
  // a program beside the service, in its container or pod, has the same name and address
  const near = own.filter((session) => there.some(({ name }) => originOf(session, situation)?.instance === name))
  const isShared = near.some((session) => originOf(session, situation)?.shared === true)
  // the named time zone may be wrong: an instance with a session may be the holder, unless it has finished starting
  const isDaily = own.length === 0 || (answers && own.every((session) => isOrdinary(session, situation)))
  const isNoMigration = isDaily && !isShared
  // if an instance is starting and busy, only its own clock says that it began later
  const isQuiet = answers || waits || !near.some(isBusy)
  const isAfter = (instance: ServiceInstance): boolean =>
    (isQuiet && startedAfter(instance, situation, 'anywhere')) ||
    (isNoMigration && startedAfter(instance, situation, 'named'))
  const starts = listed(there.map(({ startedAt }) => (startedAt === null ? '' : moment(startedAt))).filter(Boolean))
  if (there.every(isAfter))
    return {
      gone: `the process that took the lock has ended: ${named ?? 'the service'} was restarted later, at ${starts}`,
    }
  if (
    tookBefore &&
    isQuiet &&
    instances.length === 1 &&
    there.every((instance) => startedAfter(instance, situation, 'named'))
  )
    return {
      gone:
        `the process that took the lock has ended: the log shows that ${one} took the lock before its restart at ` +
        `${starts}`,
    }
  if (answers && instances.length === 1) {
    if ((took && isDaily) || (granted === null && isNoMigration))
      return {
        gone:
          `${one} has finished its migration: the service answers requests, which it does only once its migration ` +
          'is done',
      }
    if (isShared) return { lack: 'another-process', text: besideIt(one) }
    if (!there.some((instance) => startedBefore(instance, situation))) return unclear(one, situation)
    const text =
      `the lock was taken after the service started on ${one}. The service answers, but ` +
      (took ? 'one of its database sessions is busy' : 'the log that was read does not show that it took the lock') +
      ': another process may be migrating the database'
    return { lack: 'another-process', text }
  }
  // a waiter has one transaction; nothing is known of a second one
  if (waits && instances.length === 1 && own.filter(isBusy).length <= 1)
    return isShared
      ? { lack: 'another-process', text: besideIt(one) }
      : { gone: 'the service itself is waiting for the lock, and no other instance is running' }
  const older = host === null ? undefined : there.find((instance) => startedBefore(instance, situation))
  if (older) return { lives: older }
  return unclear(one, situation)
}

function unproven(missing: readonly Missing[]): LockHolding {
  return { holder: 'unproven', why: missing.map(({ text }) => text), lacks: missing.map(({ lack }) => lack) }
}

/** The sessions of this instance ended with the database's; what it does outside the database is not seen. */
function runsOn(instance: ServiceInstance): Missing {
  return {
    lack: 'another-process',
    text:
      `${describeInstance(instance)} has been running since before the lock was taken. PostgreSQL was ` +
      "restarted later, which ended the instance's sessions, but not its process",
  }
}

function besideIt(host: string): string {
  return `another process in ${host} shares the service's address, and may be migrating the database`
}

function unclear(host: string, { logAheadMs }: LockSituation): Missing {
  const text = `it is unclear whether ${host} took the lock before or after its last start`
  return logAheadMs === null
    ? { lack: 'zone', text }
    : { lack: 'clock', text: `${text}: the service's log is ${span(logAheadMs)} ahead of the database's clock` }
}

/** Returns what the database does not show of the session that took the lock. */
function unseen(situation: LockSituation, open: readonly DatabaseBackend[] | null): Missing[] {
  const { pooler, poolerDoubt, strangers, hidden, usersKnown, inRecovery, origins, now } = situation
  const missing: Missing[] = []
  if (inRecovery)
    missing.push({
      lack: 'standby',
      text: 'this PostgreSQL server is a standby, which does not show the sessions of the primary',
    })
  const unread = hidden.filter((session) => mayHold(session, situation))
  if (open === null)
    missing.push({
      lack: 'rights',
      text: 'this database user has no permission to see other sessions (missing role: pg_read_all_stats)',
    })
  else if (unread.length > 0) {
    const text =
      `this database user has no permission to see the activity and age of ${sessionsOf(unread)} (missing role: ` +
      'pg_read_all_stats)'
    missing.push({ lack: 'rights', text })
  }
  if (pooler !== null)
    missing.push({
      lack: 'pooler',
      text:
        `${pooler} shares its database sessions between clients: cannot tell which session belongs to the lock ` +
        'holder',
    })
  else if (poolerDoubt !== null) missing.push({ lack: 'route', text: poolerDoubt })
  if (pooler === null && open !== null && open.length > 0) {
    const which = listed(open.slice(0, 3).map((session) => describeSession(session, now)))
    const more = open.length > 3 ? ` and ${open.length - 3} more` : ''
    const whose = origins === null ? '; cannot see from this machine which process opened it' : ''
    missing.push({
      lack: 'open-session',
      text: `an open database session may belong to the lock holder: ${which}${more}${whose}`,
    })
  }
  const others = strangers.filter((session) => mayHold(session, situation))
  if (others.length > 0) {
    const which = sessionsOf(others)
    missing.push(
      usersKnown
        ? { lack: 'stranger', text: `${which} may hold the lock, although the service uses another database user` }
        : { lack: 'user', text: `the service's database user is unknown, and ${which} may hold the lock` },
    )
  }
  return missing
}

/** Describes sessions, at most three of them by PID: `2 sessions of app, root (PID 12 of psql, 13)`. */
function sessionsOf(sessions: readonly DatabaseBackend[]): string {
  const users = listed([...new Set(sessions.map(({ user }) => user ?? 'an unnamed user'))])
  const shown = listed(
    sessions.slice(0, 3).map(({ pid, application }) => `${pid}${application === '' ? '' : ` of ${application}`}`),
  )
  return (
    `${counted(sessions.length, 'session')} of ${users} (PID ` +
    `${shown}${sessions.length > 3 ? ` and ${sessions.length - 3} more` : ''})`
  )
}

function withoutSession(own: readonly DatabaseBackend[]): string {
  return own.length === 0
    ? 'no open database session can belong to the lock holder'
    : "every open database session belongs to the service's instance, which does not hold the lock"
}

/** True if a session may have existed when the lock was taken, by the named time zone. */
function isAsOld({ startedAt }: DatabaseBackend, { granted, pooler }: LockSituation): boolean {
  return pooler !== null || granted === null || startedAt === null || startedAt <= granted.latest
}

function startedAfter(
  { startedAt }: ServiceInstance,
  { granted, clock, now }: LockSituation,
  by: 'named' | 'anywhere',
): boolean {
  // the instance's clock is ahead
  if (startedAt !== null && startedAt.getTime() + clock.offsetMs - clock.uncertaintyMs > now.getTime()) return false
  const latest = by === 'named' ? granted?.latest : granted?.latestAnywhere
  return (
    latest !== undefined &&
    startedAt !== null &&
    startedAt.getTime() + clock.offsetMs - clock.uncertaintyMs > latest.getTime()
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
