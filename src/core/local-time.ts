/** A wall-clock time that was written without its zone. `month` counts from 1. */
export interface LocalTime {
  year: number
  month: number
  day: number
  hour: number
  minute: number
  second: number
  millisecond: number
}

/** Most services run in these: they do not need Node's tables of time zones, which load slowly. */
const utc = new Set(['UTC', 'Etc/UTC', 'GMT', 'Etc/GMT'])

const pattern = /^\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}(?:[.,](\d{1,9}))?/

/** Reads `YYYY-MM-DD HH:MM:SS[.fff…]` (or a `T` for the space) at the start of a text; null if it is no time. */
export function parseLocalTime(text: string): LocalTime | null {
  const parts = pattern.exec(text)
  if (!parts) return null
  // large logs have millions of records, and digits are quicker to read than texts of numbers
  const two = (from: number): number => text.charCodeAt(from) * 10 + text.charCodeAt(from + 1) - 528
  const year = two(0) * 100 + two(2)
  const [month, day, hour, minute, second] = [two(5), two(8), two(11), two(14), two(17)]
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 59) return null
  const millisecond = Number((parts[1] ?? '').padEnd(3, '0').slice(0, 3))
  return { year, month, day, hour, minute, second, millisecond }
}

/** Returns the moment when clocks in UTC showed this. */
export function asUtc(time: LocalTime): Date {
  return new Date(Date.UTC(time.year, time.month - 1, time.day, time.hour, time.minute, time.second, time.millisecond))
}

/** Returns what turns local times of one zone (an IANA name) into moments. Throws RangeError if the zone is unknown. */
export function localTimeReader(timeZone: string): (time: LocalTime) => Date {
  if (utc.has(timeZone)) return asUtc
  const shown = shownIn(timeZone)
  const offsetAt = (moment: number): number => shown(moment) - Math.floor(moment / 1000) * 1000
  let known: { quarter: number; offset: number } | null = null
  return (time) => {
    const local = asUtc(time).getTime()
    // zones change their offset only on quarters of an hour, and neighbouring records mostly share one
    const quarter = Math.floor(local / 900_000)
    if (known?.quarter !== quarter) {
      const first = offsetAt(local)
      known = { quarter, offset: offsetAt(local - first) }
    }
    return new Date(local - known.offset)
  }
}

/** Returns what gives the time that clocks of that zone show at a moment, to the second, as if in UTC. */
function shownIn(timeZone: string): (moment: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  return (moment) => {
    const part: Record<string, number> = {}
    for (const { type, value } of format.formatToParts(moment)) part[type] = Number(value)
    return Date.UTC(part['year']!, part['month']! - 1, part['day'], part['hour'], part['minute'], part['second'])
  }
}

/**
 * Returns the moments at which clocks of that zone showed this, earliest first: two in the hour that is set back.
 * Throws RangeError if the zone is unknown.
 */
export function momentsOf(time: LocalTime, timeZone: string): [Date, ...Date[]] {
  const read = localTimeReader(timeZone)
  const at = read(time).getTime()
  const zone = utc.has(timeZone) ? null : shownIn(timeZone)
  // clocks go back by one hour, by half an hour on Lord Howe Island, by two hours at Troll
  const others =
    zone === null
      ? []
      : [-120, -60, -30, 30, 60, 120]
          .map((minutes) => at + minutes * 60_000)
          .filter((other) => zone(other) === zone(at))
  const [first, ...more] = [at, ...others].sort((a, b) => a - b)
  return [new Date(first!), ...more.map((other) => new Date(other))]
}

/** Returns the zone of this machine, an IANA name. */
export function zoneHere(): string {
  // Intl loads the tables of time zones to find the name
  return new Date().toString().endsWith('(Coordinated Universal Time)')
    ? 'UTC'
    : Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** Returns true if times can be read in this zone. */
export function isTimeZone(name: string): boolean {
  if (utc.has(name)) return true
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** True for a day of the calendar such as 2027-01-31. */
export function isDay(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.startsWith(text) === true
}

/** True once that day of the calendar is over in UTC, at a time in milliseconds since 1970. */
export function isDayOver(day: string, now: number): boolean {
  return now > Date.parse(`${day}T23:59:59.999Z`)
}

let recorded: number | null = null

/**
 * Returns the time by which a deployment is judged, in milliseconds since 1970: this machine's, or the one at which the
 * answers of a report were recorded.
 */
export function currentTime(): number {
  return recorded ?? Date.now()
}

/** Makes `currentTime` return the time of a report for the rest of the process; null: this machine's again. */
export function judgeAsOf(time: Date | null): void {
  recorded = time?.getTime() ?? null
}

/** How far a clock is ahead of this machine's (negative: behind), and how sure that is. Both in milliseconds. */
export interface ClockReading {
  offsetMs: number
  uncertaintyMs: number
}
