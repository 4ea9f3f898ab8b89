import { AdminError } from '../../core/error.ts'
import { didYouMean } from '../../core/nearest.ts'
import {
  datasourcePrefixes,
  isSecretSetting,
  parseBoolean,
  settingNames,
  springSettings,
} from '../../knowledge/settings.ts'
import type { SettingNames, Vendor } from '../../knowledge/settings.ts'
import { command } from '../../core/shell-command.ts'

/** One setting to change; `known`: by its purpose, whatever the vendor's prefix. */
export type SettingWish = ({ name: string } | { known: KnownSetting }) & {
  /** Null: the setting is removed, or is a secret */
  to: string | null
  /** Fingerprint of a secret, in place of the value; `file`: null means standard input */
  secret?: { fingerprint: string; file: string | null }
}

/** Settings that have a flag of their own (SPEC.md 5 and 7). */
export type KnownSetting = 'rabbitDurable' | 'tokenValiditySeconds' | 'integrationLogLevel'

/** Returns the words of the command line that request this change. */
export function wordsOf({ to, secret, ...wish }: SettingWish): string[] {
  if ('name' in wish)
    return [secret ? `${wish.name}=@${secret.file ?? '-'}` : to === null ? `${wish.name}-` : `${wish.name}=${to}`]
  switch (wish.known) {
    case 'rabbitDurable':
      return ['--durable-queues', to ?? '']
    case 'tokenValiditySeconds':
      return ['--token-lifetime', to ?? '']
    case 'integrationLogLevel':
      return ['--integration-debug', to === null ? 'off' : 'on']
  }
}

/** Parses a word of the command line. Throws USAGE if it is invalid, or a secret in clear, which it does not repeat. */
export function parseWish(word: string): { name: string; to: string | null } | { name: string; source: string } {
  const [, name = '', sign, value = ''] = /^([^=]*?)(=|-$)([^]*)$/.exec(word) ?? []
  if (sign === undefined) {
    throw new AdminError('USAGE', `\`${word}\` is neither NAME=VALUE nor NAME-`, [
      command`testops-admin set-env ${word}=VALUE`,
      command`testops-admin set-env ${word}-   # removes it`,
    ])
  }
  if (!/^[A-Za-z_]\w*$/.test(name))
    throw new AdminError('USAGE', `\`${name}\` is not a valid setting name: use letters, digits and _`)
  if (sign === '-') return { name, to: null }
  if (value.startsWith('@')) {
    if (value === '@')
      throw new AdminError('USAGE', `${name}=@ names no file`, [command`testops-admin set-env ${name}=@FILE`])
    return { name, source: value.slice(1) }
  }
  if (isSecretSetting(name, value)) throw inClear(name)
  if (/[\0-\x08\x0a-\x1f\x7f]/.test(value))
    throw new AdminError('USAGE', `the value of ${name} contains control characters or a line break`)
  return { name, to: value }
}

function inClear(name: string): AdminError {
  return new AdminError(
    'USAGE',
    `${name} is a secret: on a command line, others on this machine can read it, and the shell records it`,
    [
      command`testops-admin set-env ${name}=@FILE   # reads the value from the file`,
      command`testops-admin set-env ${name}=@-   # from standard input, with --confirm`,
    ],
  )
}

/** Throws USAGE if one of the service's own settings gets an invalid value. */
export function assertValue(name: string, to: string | null, names: SettingNames): void {
  if (to === null) return
  if (name === names.rabbitDurable && parseBoolean(to) === null)
    throw new AdminError('USAGE', `${name} must be true or false, not \`${to}\``, [
      command`testops-admin set-env ${name}=true`,
    ])
  if (name === names.tokenValiditySeconds && !/^[1-9]\d{0,8}$/.test(to)) {
    throw new AdminError('USAGE', `${name} must be a number of seconds, not \`${to}\``, [
      command`testops-admin set-env ${name}=3600`,
    ])
  }
}

/** Suggests the intended name of an unknown setting; null if the name is known, or resembles no known name. */
export function typoNote(name: string, vendor: Vendor, present: Iterable<string>): string | null {
  const datasources = datasourcePrefixes.flatMap((prefix) =>
    ['URL', 'USERNAME', 'PASSWORD'].map((end) => `${prefix}_${end}`),
  )
  const known = [...Object.values<string>({ ...settingNames(vendor), ...springSettings }), ...datasources]
  const all = new Set([...known, ...present])
  if (all.has(name)) return null
  const hint = didYouMean(name, all)
  return hint === undefined ? null : `${name} is an unknown setting; ${hint}`
}
