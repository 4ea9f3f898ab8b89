import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { Flags } from '@oclif/core'
import { AdminError } from '../../core/error.ts'
import { fingerprint } from '../../core/plan.ts'
import type { Secret } from '../../core/secret.ts'
import { secretIn } from '../../core/secret.ts'
import { command } from '../../core/shell-command.ts'
import type { SetEnvOptions } from '../../repairs/set-env.ts'
import type { GivenVendor, KnownSetting, SettingWish } from '../../repairs/set-env/change.ts'
import { parseWish, refuseMask } from '../../repairs/set-env/change.ts'
import type { SelectedDeployment } from '../../runtime/index.ts'
import { readInput } from '../../runtime/read-input.ts'
import { chosenDeployment } from '../chosen-deployment.ts'
import { defaultTimeoutSeconds, interruptible } from '../interrupt.ts'

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
  throw new AdminError('USAGE', 'specify the setting to change', [
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
  refuseMask(name, text)
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

/** Flags that name the vendor's settings and loggers, for when nothing else shows the names. */
export const vendorFlags = {
  'vendor-prefix': Flags.string({
    summary: "Use this prefix for the vendor's settings; needed only if it cannot be detected",
    helpValue: 'PREFIX',
  }),
  'vendor-package': Flags.string({
    summary: "Use this Java package for the vendor's loggers; needed only if it cannot be detected",
    helpValue: 'PACKAGE',
  }),
}

/** Returns the vendor's names that the flags give. Throws USAGE for an invalid one. */
export function givenVendor({
  'vendor-prefix': prefix,
  'vendor-package': name,
}: {
  'vendor-prefix'?: string | undefined
  'vendor-package'?: string | undefined
}): { vendor?: GivenVendor } {
  if (prefix !== undefined && !/^[A-Z][A-Z0-9_]*$/.test(prefix))
    throw new AdminError('USAGE', `--vendor-prefix ${prefix} is invalid: use capital letters, digits and _`, [
      'testops-admin set-env --help',
    ])
  if (name !== undefined && !/^[\w.-]+$/.test(name))
    throw new AdminError('USAGE', `--vendor-package ${name} is not a package name`, ['testops-admin set-env --help'])
  return prefix === undefined && name === undefined
    ? {}
    : { vendor: { ...(prefix !== undefined && { prefix }), ...(name !== undefined && { package: name }) } }
}

/** Returns the vendor's names from the deployment's configuration or settings, and the deployment. */
export async function vendorOfDeployment(flags: {
  deployment?: string | undefined
  config?: string | undefined
  timeout?: number | undefined
}): Promise<{ vendor: GivenVendor; selected: SelectedDeployment }> {
  return interruptible(async (signal) => {
    const { openDeployment } = await import('../../runtime/index.ts')
    const selected = await chosenDeployment(flags, signal)
    const opened = await openDeployment(selected, {
      timeoutMs: (flags.timeout ?? defaultTimeoutSeconds) * 1000,
      environment: process.env,
      config: flags.config,
      signal,
    })
    try {
      const { vendor, assumedVendor = [] } = opened.deployment
      return {
        vendor: {
          ...(!assumedVendor.includes('prefix') && { prefix: vendor.prefix }),
          ...(!assumedVendor.includes('package') && { package: vendor.package }),
        },
        selected,
      }
    } finally {
      await opened.close()
    }
  })
}
