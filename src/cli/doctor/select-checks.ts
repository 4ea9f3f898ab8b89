import type { Check } from '../../core/check.ts'
import { AdminError } from '../../core/error.ts'
import { closestNames, closestTo } from '../../core/nearest.ts'
import { typed } from '../../core/typed.ts'

/**
 * Returns the checks to run, in the catalogue's order. A name is an id, or a group: `broker`, `broker/`, `broker/*`.
 * Throws USAGE for any other name, with the nearest ones, and if no check is left.
 */
export function selectChecks<C extends Pick<Check, 'id'>>(
  catalogue: readonly C[],
  only: readonly string[],
  skip: readonly string[],
): C[] {
  const ids = catalogue.map(({ id }) => id)
  const wanted = only.length === 0 ? new Set(ids) : new Set(only.flatMap((name) => idsOf(name, ids, '--only')))
  const unwanted = new Set(skip.flatMap((name) => idsOf(name, ids, '--skip')))
  const chosen = catalogue.filter(({ id }) => wanted.has(id) && !unwanted.has(id))
  if (chosen.length === 0)
    throw new AdminError('USAGE', '--only and --skip leave no check to run', ['testops-admin checks'])
  return chosen
}

function idsOf(name: string, ids: readonly string[], flag: string): string[] {
  const group = name.replace(/\/\*?$/, '')
  const found = ids.filter((id) => id === name || id.startsWith(`${group}/`))
  if (found.length > 0) return found
  const groups = new Set(ids.map((id) => id.split('/')[0] ?? id))
  const known = name.includes('/') ? ids : [...groups, ...ids]
  throw new AdminError('USAGE', `no check \`${name}\`; ${closestTo(group, known)}`, [
    ...closestNames(group, known).map((id) => typed([flag, id])),
    'testops-admin checks',
  ])
}
