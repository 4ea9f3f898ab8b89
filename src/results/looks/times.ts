import { datesIn, dateTimeIn } from './dates.ts'
import type { Look, Looked } from './look.ts'

const [hourMs, dayMs] = [3_600_000, 86_400_000]
/** dates without a zone may be those of any */
const zonesMs = 14 * hourMs
/**
 * what is further away is a date of the test itself, as the first and last ones that a system bears; the second holds
 * for full minutes
 */
const [farMs, farOfRoundMs] = [5 * 365 * dayMs, 365 * dayMs]

/** A time that is made when the test runs; a date alone, or a number, only where it is that of the run. */
export function timeLook({ text, at }: Looked): Look | null {
  if (!/\d{4}|\d\d?[./]\d\d?[./]\d/.test(text)) return null
  const dateTime = dateTimeIn(text)
  if (dateTime) {
    const away = at === null ? 0 : Math.abs(dateTime.time - at)
    const isOfRun = at !== null && away <= dayMs + zonesMs
    const isNear = away <= (dateTime.isRound ? farOfRoundMs : farMs)
    return isOfRun || (dateTime.isWhole && !dateTime.isEdge && isNear) ? { what: 'a time' } : null
  }
  if (at === null) return null
  // from noon of that day
  if (datesIn(text).some((date) => Math.abs(date + 12 * hourMs - at) <= 1.5 * dayMs + zonesMs))
    return { what: 'the date of the run', isOfDay: true }
  return isEpoch(text, at) ? { what: 'the time of the run as a number' } : null
}

const epoch = /(?<![\d.])(?:\d{10}|\d{13}|\d{16}|\d{19})(?!\d)/g

/** Seconds, milliseconds, microseconds or nanoseconds since 1970. */
function isEpoch(text: string, at: number): boolean {
  for (const [digits] of text.matchAll(epoch)) {
    const ms = Number(digits) * 10 ** (13 - digits.length)
    if (Math.abs(ms - at) <= dayMs) return true
  }
  return false
}
