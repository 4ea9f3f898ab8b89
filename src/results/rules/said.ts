import { grouped } from '../../core/grouped.ts'
import { withoutSecrets } from '../../core/redaction/index.ts'
import { isSecretName } from '../../core/redaction/table.ts'
import type { ParameterContent } from '../result-file.ts'

/** characters of a value that a message shows */
const shownCharacters = 60

/** `"a value of a result"`, cut where it is long, without what is secret by its form. */
export function quoted(text: string, most = shownCharacters): string {
  // secrets are looked for in somewhat more, so that none is cut in two and shown
  const safe = withoutSecrets(text.slice(0, most + 1000))
  return safe.length <= most ? `"${safe}"` : `"${safe.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…"`
}

/** Whether the value of a parameter is not to be shown: it is hidden or masked, or its name tells of a secret. */
export function isSecretParameter({ name, mode }: ParameterContent): boolean {
  return mode === 'hidden' || mode === 'masked' || isSecretName(name ?? '')
}

/** '1 result', '1,204 results' */
export function counted(count: number, one: string, several = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : several}`
}

/** 'a', 'a and b', 'a, b and 3 more' */
export function listed(items: readonly string[], most: number): string {
  const shown = items.length > most ? [...items.slice(0, most), `${grouped(items.length - most)} more`] : items
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`
}

/** Whether there is no text, or blanks alone. */
export function isBlank(text: string | null | undefined): boolean {
  return text == null || text.trim() === ''
}

/**
 * characters of a place that are told: results are nested a few levels, and a broken one may be nested by the thousand
 */
const placeCharacters = 200

/** A place that others begin with, `steps[0].`, with `…` for what lies between where it is long. */
export function within(place: string, part: string): string {
  return place.length > placeCharacters ? `${place.slice(0, placeCharacters / 2)}…${part}.` : `${place}${part}.`
}
