import { moment } from './figures.ts'
import { grouped } from './grouped.ts'
import { withoutSecrets } from './redaction/index.ts'

export { bytes, moment, span } from './figures.ts'
export { grouped }

/** `once, at …`, `12 times, first …, last …`: how often something happened, oldest first */
export function timesOf(events: readonly { at: Date | null }[]): string {
  const [first, last] = [events[0]?.at, events.at(-1)?.at]
  if (events.length === 1) return `once${last ? `, at ${moment(last)}` : ''}`
  return `${grouped(events.length)} times${first && last ? `, first ${moment(first)}, last ${moment(last)}` : ''}`
}

/** `1 queue`, `3 queues` */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** `a, b and 3 more`; what holds commas itself is divided otherwise */
export function listed(names: readonly string[], most = 5, divider = ', '): string {
  if (names.length <= most) return names.join(divider)
  return `${names.slice(0, most).join(divider)} and ${names.length - most} more`
}

/** The first line of a text without what is secret in it, cut to so many characters. */
export function firstLine(text: string, most = 200): string {
  // half of a secret is not known again
  const line = withoutSecrets(text.split('\n', 1)[0] ?? '')
  return line.length > most ? `${line.slice(0, most)}…` : line
}

export function percent(part: number, whole: number): string {
  return `${Math.round((100 * part) / whole)} %`
}
