import { asUtc, isTimeZone, momentsOf, parseLocalTime } from '../../core/local-time.ts'
import { moment, span } from './format.ts'

/**
 * When the lock was taken, by the database's clock. The two differ where the time zone of the writer is not known, and in the hour
 * that its clocks showed twice.
 */
export interface Granted {
  earliest: Date
  latest: Date
  /** the same wherever the writer may have been: who is none of the service's may live in another zone */
  latestAnywhere: Date
  /** for people */
  text: string
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
export function readGranted(lockGranted: string | null, timeZone: string | null, now: Date): Granted | null {
  const local = lockGranted === null ? null : parseLocalTime(lockGranted)
  if (!local) return null
  const shown = lockGranted!.slice(0, 19)
  const utc = asUtc(local).getTime()
  const latestAnywhere = new Date(Math.min(utc + west, now.getTime()))
  if (timeZone !== null && isTimeZone(timeZone)) {
    const past = momentsOf(local, timeZone).filter((at) => at.getTime() <= now.getTime() + slackMs)
    const [first, last] = [past[0], past.at(-1)]
    if (first && last) {
      const ago = [...new Set([last, first].map((at) => span(Math.max(0, now.getTime() - at.getTime()))))].join(' or ')
      return { earliest: first, latest: last, latestAnywhere, text: `${shown} ${timeZone} (${ago} ago)` }
    }
  }
  const earliest = new Date(Math.min(utc - east, now.getTime()))
  const latest = latestAnywhere
  const least = span(now.getTime() - latest.getTime())
  const most = span(now.getTime() - earliest.getTime())
  const age = now.getTime() === latest.getTime() ? `at most ${most}` : `between ${least} and ${most}`
  return {
    earliest,
    latest,
    latestAnywhere,
    text: `${shown} of the holder's local time (its time zone is not known: ${age} ago, now ${moment(now)})`,
  }
}
