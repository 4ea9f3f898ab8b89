export interface DateTime {
  /** milliseconds since 1970; read as UTC if the text gives no offset */
  time: number
  /** true if the text contains nothing else */
  isWhole: boolean
  /** true for the first or the last moment of a day, which tests of limits use */
  isEdge: boolean
  /** true for full five minutes, which people choose */
  isRound: boolean
}

const monthNames = 'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec'
const month = `(?:${monthNames})[a-z]{0,6}\\.?`
const clock =
  String.raw`(?<hour>\d{1,2})[:.\-_h](?<minute>\d\d)` +
  String.raw`(?:[:.\-_m](?<second>\d\d)(?:[.,](?<fraction>\d{1,9}))?)?`
const half = String.raw`(?:\s?(?<half>[ap])\.?m\b\.?)?`
const zone = String.raw`(?:\s?(?:Z|UTC|GMT|[A-Z]{3,5})?\s?(?<offset>[+-]\d\d:?(?:\d\d)?)?)`

/** Formats of written dates, the most usual first. */
const yearFirst = String.raw`(?<year>\d{4})(?<mark>[-/._])(?<month>\d\d)\k<mark>(?<day>\d\d)`
const yearLast = String.raw`(?<a>\d{1,2})(?<mark>[-/.])(?<b>\d{1,2})\k<mark>(?<year>\d{4})`
const dayName = String.raw`(?:(?<day>\d{1,2})(?:st|nd|rd|th)?[\s-](?<name>${month})[\s,-]{1,2}(?<year>\d{4}))`
const nameDay = String.raw`(?:(?<name>${month})\s(?<day>\d{1,2})(?:st|nd|rd|th)?,?\s(?<year>\d{4}))`
const digits = String.raw`(?<year>(?:19|20)\d\d)(?<month>\d\d)(?<day>\d\d)`

const insensitive = (source: string): RegExp => new RegExp(`(?<![\\dA-Za-z])(?:${source})(?![\\d])`, 'i')

const dateTimes: readonly RegExp[] = [
  insensitive(`${yearFirst}(?:T|[\\s,_-]{1,2})${clock}${half}${zone}`),
  insensitive(`${digits}[T_-]?(?<hour>\\d\\d)(?<minute>\\d\\d)(?<second>\\d\\d)(?:[.,]?(?<fraction>\\d{3,6}))?${zone}`),
  insensitive(`${yearLast}(?:T|[\\s,_]{1,2})${clock}${half}${zone}`),
  insensitive(`${dayName}[\\s,]{1,2}${clock}${half}${zone}`),
  insensitive(`${nameDay}[\\s,]{1,2}${clock}${half}${zone}`),
  // `date` of Unix and Date.toString of Java
  insensitive(
    String.raw`(?<name>${month})\s{1,2}(?<day>\d{1,2})\s${clock}\s(?:[A-Z]{1,5}(?:[+-]\d\d:?\d\d)?\s)?(?<year>\d{4})`,
  ),
]

const dates: readonly RegExp[] = [
  insensitive(yearFirst),
  insensitive(yearLast),
  insensitive(dayName),
  insensitive(nameDay),
  insensitive(digits),
]

/**
 * Text that may surround a date without making it part of something else: quotes, brackets, the day's name, a zone's
 * name.
 */
const around =
  /\([\w\s+:-]{1,60}\)|\[[\w/+-]{1,40}\]|(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}[,\s]|[\s"'`()[\]{}<>#]/gi

/** Finds the first date with a time of day in a text; null if there is none. */
export function dateTimeIn(text: string): DateTime | null {
  if (!/\d[:.\-_h]\d\d|\d{12}|\d{8}[T_-]\d{6}/i.test(text)) return null
  for (const pattern of dateTimes) {
    const match = pattern.exec(text)
    const time = match ? timeOf(match.groups!) : null
    if (match && time !== null) {
      const rest = text.slice(0, match.index) + text.slice(match.index + match[0].length)
      return {
        time,
        isWhole: rest.replace(around, '') === '',
        isEdge: isEdge(match.groups!),
        isRound: time % 300_000 === 0 && !/[1-9]/.test(match.groups!.fraction ?? ''),
      }
    }
  }
  return null
}

/** Returns when the first date in a text begins, in UTC milliseconds; both times if it can be read in two ways. */
export function datesIn(text: string): readonly number[] {
  for (const pattern of dates) {
    const match = pattern.exec(text)
    const times = match ? daysOf(match.groups!) : []
    if (times.length > 0) return times
  }
  return []
}

type Groups = Readonly<Record<string, string | undefined>>

function timeOf(groups: Groups): number | null {
  const [day] = daysOf(groups)
  const [hour, minute, second] = [Number(groups.hour), Number(groups.minute), Number(groups.second ?? 0)]
  if (day === undefined || hour > 24 || minute > 59 || second > 60) return null
  const hours = groups.half ? (hour % 12) + (groups.half.toLowerCase() === 'p' ? 12 : 0) : hour
  return day + ((hours * 60 + minute) * 60 + second) * 1000 - offsetOf(groups.offset)
}

function offsetOf(offset: string | undefined): number {
  if (offset === undefined) return 0
  const [hours, minutes] = [Number(offset.slice(1, 3)), Number(offset.replace(/\D/g, '').slice(2) || 0)]
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000
}

function daysOf({ year, month: numbered, name, day, a, b }: Groups): number[] {
  if (a !== undefined)
    return [...new Set([...dayIn(Number(year), Number(b), Number(a)), ...dayIn(Number(year), Number(a), Number(b))])]
  const inYear =
    name === undefined ? Number(numbered) : monthNames.split('|').indexOf(name.slice(0, 3).toLowerCase()) + 1
  return dayIn(Number(year), inYear, Number(day))
}

/** Returns when the day begins, in UTC milliseconds; an empty list if there is no such day. */
function dayIn(year: number, monthInYear: number, day: number): number[] {
  const time = Date.UTC(year, monthInYear - 1, day)
  const date = new Date(time)
  return date.getUTCMonth() === monthInYear - 1 && date.getUTCDate() === day ? [time] : []
}

function isEdge({ hour, minute, second }: Groups): boolean {
  return (
    (Number(hour) % 24 === 0 && Number(minute) === 0 && Number(second ?? 0) === 0) || (hour === '23' && minute === '59')
  )
}
