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
    const values = isSecret ? '' : `: it was ${quoted(before)}, and is ${quoted(value)}`
    return {
      message: `the environment entry ${quoted(name, 80)} has a different value than in the previous run${values}`,
      place: name,
      remedy,
    }
  }
  const look = volatileLook(value, name, null)
  // a value that two runs had in common does not change, whatever it looks like
  if (look === null || before !== undefined) return null
  return {
    message: `the environment entry ${quoted(name, 80)} holds ${look.what}${isSecret || look.isSecret ? '' : `: ${quoted(value)}`}`,
    place: name,
    remedy,
  }
}

const remedy =
  'Remove values that change from the environment file (`environment.properties`). Put them into an attachment if they are needed.'
