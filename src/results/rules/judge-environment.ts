import type { Found } from '../problem.ts'
import { isSecretName } from '../../core/redaction/table.ts'
import { quoted } from './said.ts'
import { volatileLook } from '../looks/volatile-look.ts'

/**
 * Finds entries of the environment files that differ from those of the previous run, or look as if they would.
 * `changing`: names of entries that may.
 */
export function judgeEnvironment(
  current: ReadonlyMap<string, string>,
  previous: ReadonlyMap<string, string> | null,
  changing: ReadonlySet<string>,
): Found[] {
  return [...current].flatMap(([name, value]) =>
    changing.has(name) ? [] : (judgeEntry(name, value, previous?.get(name)) ?? []),
  )
}

function judgeEntry(name: string, value: string, before: string | undefined): Found | null {
  const isSecret = isSecretName(name)
  if (before !== undefined && before !== value) {
    const values = isSecret ? '' : `: ${quoted(before)} before, ${quoted(value)} now`
    return {
      message: `the environment entry ${quoted(name, 80)} differs from the previous run${values}`,
      place: name,
      remedy,
    }
  }
  const look = volatileLook(value, name, null)
  // a value that two runs had in common does not change, whatever it looks like
  if (look === null || before !== undefined) return null
  return {
    message:
      `the environment entry ${quoted(name, 80)} contains ` +
      `${look.what}${isSecret || look.isSecret ? '' : `: ${quoted(value)}`}`,
    place: name,
    remedy,
  }
}

const remedy =
  'In the environment file (`environment.properties`), remove the values that differ between runs. If you need ' +
  'them, put them into an attachment.'
