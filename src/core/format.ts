import { withoutSecrets } from './redaction/index.ts'

/** Formats a span in milliseconds by its two largest units: `3 h 5 min`, `12 s`, `40 ms`. */
export function span(milliseconds: number): string {
  const total = Math.abs(milliseconds)
  if (total < 1000) return `${Math.round(total)} ms`
  if (total < 10_000) return `${(total / 1000).toFixed(1).replace(/\.0$/, '')} s`
  const seconds = Math.round(total / 1000)
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor((seconds % 86_400) / 3600), 'h'],
    [Math.floor((seconds % 3600) / 60), 'min'],
    [seconds % 60, 's'],
  ]
  const first = parts.findIndex(([count]) => count > 0)
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ')
}

/** Powers of 1000, as df -H prints them */
const powers: Readonly<Record<string, number>> = { '': 1, k: 1e3, m: 1e6, g: 1e9, t: 1e12 }

/** Parses a size such as `20GB`, in bytes; null if it is none. */
export function parseBytes(text: string): number | null {
  const [, number, unit] = /^(\d{1,15}(?:\.\d{1,3})?) ?([kmgt]?)(?:i?b)?$/i.exec(text.trim()) ?? []
  return number === undefined ? null : Number(number) * powers[unit!.toLowerCase()]!
}

/** Formats bytes in powers of 1000, as df -H and RabbitMQ do: `1.5 GB`. */
export function bytes(count: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  let value = count
  let unit = 0
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000
    unit += 1
  }
  return `${value >= 100 || unit === 0 ? Math.round(value) : Number(value.toFixed(1))} ${units[unit]}`
}

/** Formats a time, or its ISO text, in UTC to the second: `2026-11-21 02:12:44Z` */
export function moment(at: Date | string): string {
  const time = new Date(at)
  // one bad time of a saved report or of another program must not end the command
  return Number.isNaN(time.getTime()) ? String(time) : `${time.toISOString().slice(0, 19).replace('T', ' ')}Z`
}

/** Formats a time as clocks of a zone show it: `2026-11-21 11:12:44`. Throws RangeError for an unknown zone. */
export function momentIn(at: Date, timeZone: string): string {
  // a format refuses it
  if (Number.isNaN(at.getTime())) return String(at)
  const format =
    formats.get(timeZone) ??
    // this language writes dates as ISO does
    new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
  formats.set(timeZone, format)
  return format.format(at)
}

/** By time zone: making one takes a hundred times as long as its use. */
const formats = new Map<string, Intl.DateTimeFormat>()

/** Groups the digits of a number, '1,284', without Node's tables of languages, which load slowly. */
export function grouped(count: number): string {
  const [, sign = '', digits] = /^(-?)(\d+)$/.exec(String(count)) ?? []
  if (digits === undefined) return String(count)
  const first = digits.length % 3 || 3
  return sign + [digits.slice(0, first), ...(digits.slice(first).match(/\d{3}/g) ?? [])].join(',')
}

/** Says how often something happened, for events oldest first: `once, at …`, `12 times, first …, last …` */
export function timesOf(events: readonly { at: Date | null }[]): string {
  const [first, last] = [events[0]?.at, events.at(-1)?.at]
  if (events.length === 1) return `once${last ? `, at ${moment(last)}` : ''}`
  return `${grouped(events.length)} times${first && last ? `, first ${moment(first)}, last ${moment(last)}` : ''}`
}

/** Formats a count with its noun: `1 queue`, `3 queues` */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** Lists at most `most` names: `a, b and 3 more`. Names with commas need another `divider` */
export function listed(names: readonly string[], most = 5, divider = ', '): string {
  if (names.length <= most) return names.join(divider)
  return `${names.slice(0, most).join(divider)} and ${names.length - most} more`
}

/** Returns the first line of a text without its secrets, cut to `most` characters. */
export function firstLine(text: string, most = 200): string {
  // secrets go before the cut: half a secret is not recognised
  const line = withoutSecrets(text.split('\n', 1)[0] ?? '')
  return line.length > most ? `${line.slice(0, most)}…` : line
}

export function percent(part: number, whole: number): string {
  return `${Math.round((100 * part) / whole)} %`
}
