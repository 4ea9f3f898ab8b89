import { grouped } from '../../core/format.ts'
import { withoutSecrets } from '../../core/redaction/index.ts'
import { isSecretName } from '../../core/redaction/table.ts'
import type { ParameterContent } from '../result-file.ts'

/** Maximum characters of a value that a message shows. */
const shownCharacters = 60

/** Quotes a value, cut if it is long, without secrets that their form reveals: `"a value of a result"`. */
export function quoted(text: string, most = shownCharacters): string {
  // looks for secrets in a longer part, so that none is cut in two and shown
  const safe = withoutSecrets(text.slice(0, most + 1000))
  return safe.length <= most ? `"${safe}"` : `"${safe.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…"`
}

/** True if a parameter's value must not be shown: it is hidden or masked, or its name means a secret. */
export function isSecretParameter({ name, mode }: ParameterContent): boolean {
  return mode === 'hidden' || mode === 'masked' || isSecretName(name ?? '')
}

/** Returns a count with its noun: '1 result', '1,204 results'. */
export function counted(count: number, one: string, several = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : several}`
}

/** Joins items: 'a', 'a and b', 'a, b and 3 more'. */
export function listed(items: readonly string[], most: number): string {
  const shown = items.length > most ? [...items.slice(0, most), `${grouped(items.length - most)} more`] : items
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`
}

/** True if there is no text, or only blanks. */
export function isBlank(text: string | null | undefined): boolean {
  return text == null || text.trim() === ''
}

/**
 * Maximum characters of a place that are shown: results are nested a few levels, and a broken one may be nested by the
 * thousand.
 */
const placeCharacters = 200

/** Returns a place that others begin with, `steps[0].`; a long one is cut in its middle, with `…`. */
export function within(place: string, part: string): string {
  return place.length > placeCharacters ? `${place.slice(0, placeCharacters / 2)}…${part}.` : `${place}${part}.`
}
