import { realpath } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { AdminError } from '../../core/error.ts'
import { command, nested } from '../../core/shell-command.ts'
import type { Judgement } from './judge.ts'
import { mendsOf, whyDistrusted } from './refusal.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Names files that are trusted whoever may write them. */
const variable = 'TESTOPS_ADMIN_TRUST'

/**
 * Files that the operator trusts by name, without symbolic links: the absolute paths in TESTOPS_ADMIN_TRUST, with a
 * colon between two. A relative path would mean another file in each folder, and trusts nothing.
 */
export async function trustedByName(environment: Environment): Promise<readonly string[]> {
  const named = (environment[variable] ?? '').split(':').filter(isAbsolute)
  return Promise.all(named.map(async (path) => realpath(path).catch(() => path)))
}

/**
 * Whether a file may be read for what it says to be done: only this user and root could have written it, or it is
 * trusted by name.
 */
export function isTrusted({ place, flaws }: Judgement, byName: readonly string[]): boolean {
  return flaws.length === 0 || (place !== null && byName.includes(place))
}

/**
 * The refusal of a file that others could have written. `shown`: its path as errors name it; `what`: 'the
 * configuration'.
 */
export function distrusted(
  what: string,
  shown: string,
  file: string,
  { flaws }: Judgement,
  environment: Environment,
): AdminError {
  const relative = (environment[variable] ?? '').split(':').filter((path) => path !== '' && !isAbsolute(path))
  const ignored = relative.length > 0 ? `; ${variable} takes absolute paths only` : ''
  // a colon would part it in two
  const byName = file.includes(':')
    ? []
    : [command`export ${nested(variable)}=${file}   # once you have read it: its commands run as you`]
  return new AdminError('CONFIGURATION', `${what} ${shown} is not trusted: ${whyDistrusted(flaws)}${ignored}`, [
    ...mendsOf(flaws),
    ...byName,
  ])
}
