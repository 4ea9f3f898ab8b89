import { moment, span } from '../../core/format.ts'
import type { LocalTime } from '../../core/local-time.ts'
import { asUtc, isTimeZone, momentsOf, parseLocalTime } from '../../core/local-time.ts'
import type { LogRecord, ServiceStatus } from '../../core/sources.ts'
import { logSignatures } from '../../knowledge/log-signatures.ts'
import { sinceStart, startOf } from '../service.ts'

/**
 * When the lock was taken, by the database's clock. `earliest` and `latest` differ if the writer's time zone is
 * unknown, and in the hour that its clocks showed twice.
 */
export interface Granted {
  earliest: Date
  latest: Date
  /** The latest moment in any time zone: a holder other than the service may live in another zone */
  latestAnywhere: Date
  /** True if all named zones give the same moment */
  isAgreed: boolean
  /** For people */
  text: string
}

/** The time zones in which the lock's time may have been written. */
interface Zones {
  /** The one that counts; null if unknown */
  named: string | null
  /** Another that is named as well; which of the two is right is unknown */
  other?: string | null
  /** What contradicts those two; then neither counts */
  against?: string | null
}

const hour = 3_600_000
/** Milliseconds to the west and east: zones lie between UTC-12 and UTC+14 */
const west = 12 * hour
const east = 14 * hour
/** Milliseconds that a time may lie in the future before its named time zone counts as wrong */
const slackMs = 60_000

/**
 * Reads `lockgranted`, which is the writer's local time without a zone (FIELD-NOTES.md 2). Without a usable zone it
 * lies within a day and two hours. Null if no time is written.
 */
export function readGranted(
  lockGranted: string | null,
  { named, other = null, against = null }: Zones,
  now: Date,
): Granted | null {
  const local = lockGranted === null ? null : parseLocalTime(lockGranted)
  if (!local) return null
  const shown = lockGranted!.slice(0, 19)
  const utc = asUtc(local).getTime()
  const latestAnywhere = new Date(Math.min(utc + west, now.getTime()))
  const past = against === null ? pastIn(local, named, now) : []
  if (past.length > 0) {
    // a zone that puts the time in the future is wrong
    const others = pastIn(local, other, now)
    const isAgreed = others.every((at) => past.some((it) => it.getTime() === at.getTime()))
    const all = [...past, ...others].sort((a, b) => a.getTime() - b.getTime())
    const text = [
      `${named} (${agesOf(past, now)} ago)`,
      ...(isAgreed ? [] : [`${other} (${agesOf(others, now)} ago)`]),
    ].join(', or ')
    return { earliest: all[0]!, latest: all.at(-1)!, latestAnywhere, isAgreed, text: `${shown} ${text}` }
  }
  const earliest = new Date(Math.min(utc - east, now.getTime()))
  const latest = latestAnywhere
  const least = span(now.getTime() - latest.getTime())
  const most = span(now.getTime() - earliest.getTime())
  const why = against ?? (named === null || !isTimeZone(named) ? null : 'in that zone, the time would be in the future')
  const age = now.getTime() === latest.getTime() ? `at most ${most}` : `between ${least} and ${most}`
  return {
    earliest,
    latest,
    latestAnywhere,
    isAgreed: true,
    text:
      `${shown} in an unknown time zone (${age} ago; it is now ${moment(now)}` +
      `${why === null ? '' : `; the zone is not ${named}, because ${why}`})`,
  }
}

/** Returns the past moments at which clocks of that zone showed this time, earliest first. */
function pastIn(local: LocalTime, zone: string | null, now: Date): Date[] {
  if (zone === null || !isTimeZone(zone)) return []
  return momentsOf(local, zone).filter((at) => at.getTime() <= now.getTime() + slackMs)
}

function agesOf(moments: readonly Date[], now: Date): string {
  return [...new Set([...moments].reverse().map((at) => span(Math.max(0, now.getTime() - at.getTime()))))].join(' or ')
}

/** Milliseconds in a quarter of an hour, and between two zones at most: zones are whole quarters apart */
const quarterMs = 900_000
const apartMs = 26 * 4 * quarterMs
/** Milliseconds until what the service writes at its start is in the log, at most */
const lagMs = 60_000
/** Milliseconds between the row and the log record about it, at most */
const besideMs = 5000

/**
 * Returns what contradicts the time zone by which a lock was taken then; null if nothing at hand does. A wrong zone
 * goes unnoticed without a log, or if log and row lie by hours apart in the time of another zone.
 */
export function contradictionOf(
  { records, status }: { records: readonly LogRecord[]; status: ServiceStatus | null },
  granted: Granted,
  { clock, now }: { clock: { offsetMs: number; uncertaintyMs: number }; now: Date },
): string | null {
  const recent = sinceStart(records, status)
  const start = startOf(status)
  if (recent === null || start === null) return null
  const sinceMs = now.getTime() - clock.offsetMs - clock.uncertaintyMs - start.getTime()
  if (recent.every(({ at }) => at === null) && sinceMs > lagMs)
    return `in that zone, the service's log would end before the service started at ${moment(start)}`
  const taken = lastTaken(recent)
  if (taken === null) return null
  const apart = Math.abs(taken.getTime() + clock.offsetMs - granted.earliest.getTime())
  const quarters = Math.round(apart / quarterMs) * quarterMs
  if (quarters === 0 || quarters > apartMs || Math.abs(apart - quarters) > besideMs + clock.uncertaintyMs) return null
  return `the log shows that the service took the lock at ${moment(taken)}`
}

/** Returns when the service took the lock that it has not released since, by its log; otherwise null. */
function lastTaken(records: readonly LogRecord[]): Date | null {
  const { lockTaken, lockReleased } = logSignatures
  const last = records.findLast(({ text }) => lockTaken.test(text) || lockReleased.test(text))
  return last !== undefined && lockTaken.test(last.text) ? last.at : null
}
