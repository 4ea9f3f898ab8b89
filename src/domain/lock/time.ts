import { asUtc, isTimeZone, momentsOf, parseLocalTime } from '../../core/local-time.ts'
import type { LocalTime } from '../../core/local-time.ts'
import { moment, span } from '../../core/format.ts'

/**
 * When the lock was taken, by the database's clock. The two differ where the time zone of the writer is not known, and
 * in the hour that its clocks showed twice.
 */
export interface Granted {
  earliest: Date
  latest: Date
  /** the same wherever the writer may have been: who is none of the service's may live in another zone */
  latestAnywhere: Date
  /** all zones that are named make the same of it */
  isAgreed: boolean
  /** for people */
  text: string
}

/** In which time zone it may have been written. */
export interface Zones {
  /** the one that counts; null: not known */
  named: string | null
  /** another that is named as well: which of the two is right is not known */
  other?: string | null
  /** what speaks against those; they count for nothing then */
  against?: string | null
}

const hour = 3_600_000
/** zones lie between UTC-12 and UTC+14 */
const west = 12 * hour
const east = 14 * hour
/** how far in the future a time may lie before its time zone is taken to be another than said */
const slackMs = 60_000

/**
 * Reads `lockgranted`, which is the writer's local time without a zone (FIELD-NOTES.md 2). Without a usable zone it
 * lies within a day and two hours. Null: no time is written.
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
    // one by which it is yet to come is wrong
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
  const why = against ?? (named === null || !isTimeZone(named) ? null : 'that is in the future')
  const age = now.getTime() === latest.getTime() ? `at most ${most}` : `between ${least} and ${most}`
  return {
    earliest,
    latest,
    latestAnywhere,
    isAgreed: true,
    text: `${shown} in the holder's local time (time zone unknown${why === null ? '' : `, not ${named}: ${why}`}; ${age} ago, now ${moment(now)})`,
  }
}

/** The moments at which clocks of that zone showed it, those that are yet to come left out, earliest first. */
function pastIn(local: LocalTime, zone: string | null, now: Date): Date[] {
  if (zone === null || !isTimeZone(zone)) return []
  return momentsOf(local, zone).filter((at) => at.getTime() <= now.getTime() + slackMs)
}

function agesOf(moments: readonly Date[], now: Date): string {
  return [...new Set([...moments].reverse().map((at) => span(Math.max(0, now.getTime() - at.getTime()))))].join(' or ')
}
