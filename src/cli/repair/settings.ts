import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { AdminError } from '../../core/error.ts'
import { fingerprint } from '../../core/fingerprint.ts'
import { secretIn } from '../../core/secret.ts'
import type { Secret } from '../../core/secret.ts'
import type { SetEnvOptions } from '../../repairs/set-env.ts'
import { parseWish } from '../../repairs/set-env/change.ts'
import type { KnownSetting, SettingWish } from '../../repairs/set-env/change.ts'
import { readInput } from '../../runtime/read-input.ts'
import { command } from '../../core/shell-command.ts'

/** Values of the flags that stand for a setting. */
interface Shortcuts {
  'durable-queues'?: string | undefined
  'token-lifetime'?: number | undefined
  'integration-debug'?: string | undefined
}

/** Returns the settings to change, without secrets, and the secrets separately. Throws USAGE. */
export async function settingWishes(
  words: readonly string[],
  shortcuts: Shortcuts,
): Promise<Pick<SetEnvOptions, 'settings' | 'salt'> & { given: ReadonlyMap<string, Secret> }> {
  const flag = words.find((word) => word.startsWith('-'))
  if (flag !== undefined) {
    throw new AdminError('USAGE', `unknown flag for \`testops-admin set-env\`: ${flag}`, [
      'testops-admin set-env NAME-   # removes a setting',
      'testops-admin set-env --help',
    ])
  }
  const salt = randomBytes(16).toString('hex')
  const given = new Map<string, Secret>()
  const settings: SettingWish[] = []
  for (const word of words) {
    const wish = parseWish(word)
    if ('to' in wish) settings.push(wish)
    else {
      const value = await secretFrom(wish.source, wish.name)
      given.set(wish.name, value)
      const file = wish.source === '-' ? null : resolve(process.cwd(), wish.source)
      settings.push({ name: wish.name, to: null, secret: { fingerprint: fingerprint(value.reveal(), salt)!, file } })
    }
  }
  settings.push(...ofShortcuts(shortcuts))
  if (settings.length > 0) return { settings, salt, given }
  throw new AdminError('USAGE', 'name the setting to change', [
    'testops-admin set-env NAME=VALUE',
    'testops-admin set-env NAME-   # removes it',
    'testops-admin set-env --help',
  ])
}

async function secretFrom(source: string, name: string): Promise<Secret> {
  const next = [command`testops-admin set-env ${name}=@FILE`]
  const secret = secretIn(await readInput(source, { mostBytes: 100_000, next }))
  const text = secret.reveal()
  if (text === '')
    throw new AdminError(
      'USAGE',
      `${source === '-' ? 'standard input' : source} is empty, so ${name} would be empty too`,
      [command`testops-admin set-env ${name}-   # removes it`],
    )
  if (/[\0-\x08\x0a-\x1f\x7f]/.test(text))
    throw new AdminError('USAGE', `the value of ${name} has control characters or more than one line`, next)
  return secret
}

function ofShortcuts({
  'durable-queues': durable,
  'token-lifetime': seconds,
  'integration-debug': debug,
}: Shortcuts): SettingWish[] {
  const known = (setting: KnownSetting, to: string | null | undefined): SettingWish[] =>
    to === undefined ? [] : [{ known: setting, to }]
  return [
    ...known('rabbitDurable', durable),
    ...known('tokenValiditySeconds', seconds === undefined ? undefined : String(seconds)),
    ...known('integrationLogLevel', debug === undefined ? undefined : debug === 'on' ? 'debug' : null),
  ]
}
