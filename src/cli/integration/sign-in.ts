import { AdminError } from '../../core/error.ts'
import type { SignIn } from '../../core/external-system.ts'
import { Secret } from '../../core/secret.ts'
import { typed } from '../../core/typed.ts'
import type { Target } from './targets.ts'
import { command, nested } from '../../core/shell-command.ts'

/** The risk that --accept-risk accepts: what is sent over http:// can be read on its way. */
export const plainHttp = 'plain-http'

/**
 * Returns the credentials for the one attempt, and the sentence that announces it. Throws REFUSED, and USAGE if
 * something is missing.
 */
export function plannedSignIn(
  targets: readonly Target[],
  accepted: readonly string[],
): { login: SignIn; plan: string } {
  const [target, ...others] = targets
  if (!target || others.length > 0) {
    throw new AdminError('USAGE', '--sign-in is for one external system', [
      ...targets.flatMap(({ name }) => (name === null ? [] : [command`--integration ${name}`])),
      '--url URL',
    ])
  }
  const {
    given: { user, password, token },
    url,
  } = target
  if (url.startsWith('http:') && !accepted.includes(plainHttp)) {
    throw new AdminError('REFUSED', `${url} is not encrypted: anyone between here and there can read the credentials`, [
      command`${nested(typed(['testops-admin', ...process.argv.slice(2), '--accept-risk', plainHttp]))}   # only when you are sure`,
    ])
  }
  if (token?.text) {
    if (!/^[\x20-\x7e\t]+$/.test(token.text))
      throw new AdminError('REFUSED', 'the token has characters that an HTTP header cannot carry', [
        'testops-admin check-integration --url URL --token-from @FILE   # shows which',
      ])
    return {
      login: { scheme: 'bearer', token: new Secret(token.text) },
      plan: `Signs in once: GET ${url} with the token from ${token.from}.`,
    }
  }
  const empty = [token, user, password].find((it) => it?.text === '')
  if (empty)
    throw new AdminError('USAGE', empty.missing ?? `cannot sign in: ${empty.from} is empty`, [
      '--user NAME --password-from @FILE',
      '--token-from @FILE',
    ])
  if (!user?.text || !password?.text)
    throw new AdminError(
      'USAGE',
      `--sign-in needs ${user?.text ? 'a password' : 'a user and a password'}, or a token`,
      ['--user NAME --password-from @FILE', '--token-from @FILE'],
    )
  const who = user.isPublic === true ? user.text : `the user from ${user.from}`
  return {
    login: { scheme: 'basic', user: new Secret(user.text), password: new Secret(password.text) },
    plan: `Signs in once: GET ${url} as ${who}, with the password from ${password.from}.`,
  }
}
