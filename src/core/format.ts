import { moment } from './figures.ts'
import { grouped } from './grouped.ts'
import { withoutSecrets } from './redaction/index.ts'

export { bytes, moment, span } from './figures.ts'
export { grouped }

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
