import type { Given } from '../../domain/integrations/credentials.ts'
import { AdminError } from '../../core/error.ts'
import { readInput } from '../../runtime/read-input.ts'
import { command } from '../../core/shell-command.ts'
import { typed } from '../../core/typed.ts'
import { own } from '../../core/own.ts'

/** Credentials as flags: a user, or places where values are kept. */
export interface GivenFlags {
  user?: string | undefined
  'user-from'?: string | undefined
  'password-from'?: string | undefined
  'token-from'?: string | undefined
}

export interface GivenCredentials {
  user?: Given
  password?: Given
  token?: Given
}

const forms = 'env:NAME, @FILE, or @- for standard input'

/**
 * Reads credentials from the places that the flags name. Throws USAGE, and SECRET_MISSING for a variable that is not
 * set.
 */
export async function givenCredentials(flags: GivenFlags): Promise<GivenCredentials> {
  const kept = (['user', 'password', 'token'] as const).map((what) => ({ what, reference: flags[`${what}-from`] }))
  if (kept.filter(({ reference }) => reference === '@-').length > 1)
    throw new AdminError('USAGE', 'standard input can be read only once', [forms])
  const given: GivenCredentials =
    flags.user === undefined ? {} : { user: { text: flags.user, from: '--user', isPublic: true } }
  for (const { what, reference } of kept)
    if (reference !== undefined) given[what] = await read(reference, `--${what}-from`)
  return given
}

/** Reads one value. A text that is not a reference may be the secret itself, so no message repeats it. */
async function read(reference: string, flag: `--${string}`): Promise<Given> {
  const variable = /^env:([A-Za-z_]\w*)$/.exec(reference)?.[1]
  if (variable !== undefined) {
    const text = own(process.env, variable)
    if (text !== undefined) return { text, from: `the environment variable ${variable}` }
    throw new AdminError('SECRET_MISSING', `${flag}: the environment variable ${variable} is not set`, [
      command`read -rs ${variable} && export ${variable}   # then paste it: one line`,
    ])
  }
  const file = /^@(.+)$/.exec(reference)?.[1]
  if (file === undefined)
    throw new AdminError('USAGE', `${flag} names the place where the value is kept, not the value: ${forms}`, [
      typed([flag, '@FILE']),
    ])
  const all = await readInput(file, { mostBytes: 100_000, next: [typed([flag, '@FILE'])] })
  const text = all.replace(/\r?\n$/, '')
  return { text, from: file === '-' ? 'standard input' : `the file ${file}`, ...(text !== all && { hadLineEnd: true }) }
}
