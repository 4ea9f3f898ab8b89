import { realpath } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { AdminError } from '../../core/error.ts'
import { command, nested } from '../../core/shell-command.ts'
import type { Judgement } from './judge.ts'
import { mendsOf, whyDistrusted } from './refusal.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Lists files that are trusted no matter who may write them. */
const variable = 'TESTOPS_ADMIN_TRUST'

/**
 * Returns the files that the operator trusts by name, without symbolic links: the absolute paths in
 * TESTOPS_ADMIN_TRUST, separated by colons. Ignores relative paths, which would mean another file in each folder.
 */
export async function trustedByName(environment: Environment): Promise<readonly string[]> {
  const named = (environment[variable] ?? '').split(':').filter(isAbsolute)
  return Promise.all(named.map(async (path) => realpath(path).catch(() => path)))
}

/** True if a file may decide what is done: only this user and root could have written it, or it is trusted by name. */
export function isTrusted({ place, flaws }: Judgement, byName: readonly string[]): boolean {
  return flaws.length === 0 || (place !== null && byName.includes(place))
}

/**
 * Returns the refusal of a file that others could have written. `shown` is its path in error messages; `what` is its
 * name, such as 'the configuration'.
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
  // a colon would split it in two
  const byName = file.includes(':')
    ? []
    : [command`export ${nested(variable)}=${file}   # once you have read it: its commands run as you`]
  return new AdminError('CONFIGURATION', `${what} ${shown} is not trusted: ${whyDistrusted(flaws)}${ignored}`, [
    ...mendsOf(flaws),
    ...byName,
  ])
}
