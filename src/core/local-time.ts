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

/** What most services run in: Node's tables of time zones, which take a while to load, are not needed for it. */
const utc = new Set(['UTC', 'Etc/UTC', 'GMT', 'Etc/GMT'])

const pattern = /^(\d{4})-(\d{2})-(\d{2})[ T](\d{2}):(\d{2}):(\d{2})(?:[.,](\d{1,9}))?/

/** Reads `YYYY-MM-DD HH:MM:SS[.fff…]` (a `T` in place of the space too) at the start of a text; null where it is no time. */
export function parseLocalTime(text: string): LocalTime | null {
  const parts = pattern.exec(text)
  if (!parts) return null
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 59) return null
  const millisecond = Number((parts[7] ?? '').padEnd(3, '0').slice(0, 3))
  return { year, month, day, hour, minute, second, millisecond }
}

/** The moment when clocks in UTC showed this. */
export function asUtc(time: LocalTime): Date {
  return new Date(Date.UTC(time.year, time.month - 1, time.day, time.hour, time.minute, time.second, time.millisecond))
}

/** Turns local times of one zone (an IANA name) into moments. Throws RangeError where the zone does not exist. */
export function localTimeReader(timeZone: string): (time: LocalTime) => Date {
  if (utc.has(timeZone)) return asUtc
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
  const offsetAt = (moment: number): number => {
    const part: Record<string, number> = {}
    for (const { type, value } of format.formatToParts(moment)) part[type] = Number(value)
    const shown = Date.UTC(part['year']!, part['month']! - 1, part['day'], part['hour'], part['minute'], part['second'])
    return shown - Math.floor(moment / 1000) * 1000
  }
  let known: { quarter: number; offset: number } | null = null
  return (time) => {
    const shown = asUtc(time).getTime()
    // zones change their offset on quarters of an hour only, and neighbouring records mostly share one
    const quarter = Math.floor(shown / 900_000)
    if (known?.quarter !== quarter) {
      const first = offsetAt(shown)
      known = { quarter, offset: offsetAt(shown - first) }
    }
    return new Date(shown - known.offset)
  }
}

/** Whether this is a zone that times can be read in. */
export function isTimeZone(name: string): boolean {
  if (utc.has(name)) return true
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name })
    return true
  } catch {
    return false
  }
}
