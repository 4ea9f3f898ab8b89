import type { Wanted } from '../../core/check.ts'
import type { Deployment } from '../../core/deployment.ts'
import { AdminError } from '../../core/error.ts'
import { counted, listed } from '../../core/format.ts'
import { didYouMean } from '../../core/nearest.ts'
import { hasMask } from '../../core/redaction/table.ts'
import type { Risk } from '../../core/plan.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import { command } from '../../core/shell-command.ts'
import type { BrokerSource, LogsSource, ServiceSource } from '../../core/sources.ts'
import { rabbitmqctl } from '../../domain/evidence.ts'
import { queueSituation } from '../../domain/queues/broker-queues.ts'
import { alwaysDurable } from '../../knowledge/broker.ts'
import type { SettingNames, Vendor } from '../../knowledge/settings.ts'
import {
  datasourcePrefixes,
  defaultVendor,
  isSecretSetting,
  parseBoolean,
  prefixOf,
  settingNames,
  springSettings,
  vendorSigns,
} from '../../knowledge/settings.ts'

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
      throw new AdminError('USAGE', `${name}=@ has no file name`, [command`testops-admin set-env ${name}=@FILE`])
    return { name, source: value.slice(1) }
  }
  refuseMask(name, value)
  if (isSecretSetting(name, value)) throw inClear(name)
  if (/[\0-\x08\x0a-\x1f\x7f]/.test(value))
    throw new AdminError('USAGE', `the value of ${name} contains control characters or a line break`)
  return { name, to: value }
}

/** Throws USAGE for a value that was copied from what this program printed: its secret was hidden there. */
export function refuseMask(name: string, value: string): void {
  if (hasMask(value))
    throw new AdminError(
      'USAGE',
      `the value of ${name} contains \`[secret]\`, which testops-admin prints instead of a secret. Type the real value`,
    )
}

function inClear(name: string): AdminError {
  return new AdminError(
    'USAGE',
    `${name} is a secret. Other users of this machine can read it on the command line, and the shell saves it ` +
      'in its history',
    [
      command`testops-admin set-env ${name}=@FILE   # reads the value from the file`,
      command`testops-admin set-env ${name}=@-   # reads the value from standard input; also needs --confirm`,
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

interface Read {
  broker: Wanted<BrokerSource>
  service: ServiceSource
  logs: Wanted<LogsSource>
}

/** Returns the risk that queues do not fit what the service will request (SPEC.md 7, last row on the broker). */
export async function queuesWouldDiffer(
  { broker, service, logs }: Read,
  deployment: Deployment,
  durable: boolean,
): Promise<{ risk?: Risk; note?: string }> {
  if (broker instanceof AdminError)
    return { note: `cannot tell whether the existing queues match the setting: ${broker.message}` }
  try {
    const { queues, all } = await queueSituation(broker, service, logs, deployment)
    const own = queues.length > 0
    const others = (own ? queues.map(({ queue }) => queue) : all)
      .filter((queue) => queue.durable !== durable && !alwaysDurable.includes(queue.type))
      .map(({ name }) => name)
    if (others.length === 0) return {}
    const what = !own
      ? `${others.length} of ${counted(all.length, 'queue')} in vhost ${broker.vhost} ` +
        `${others.length === 1 ? 'is' : 'are'} ${durable ? 'transient' : 'durable'}, and testops-admin cannot tell ` +
        `whether the service uses ${others.length === 1 ? 'it' : 'them'}: ${listed(others)}`
      : `${counted(others.length, 'queue')} of the service ${others.length === 1 ? 'is' : 'are'} ` +
        `${durable ? 'transient' : 'durable'}: ${listed(others)}`
    return {
      risk: {
        name: 'queues-mismatch',
        message:
          `${what}. After this change, the service declares its queues as ${durable ? 'durable' : 'transient'} ` +
          `and fails if they are ${durable ? 'transient' : 'durable'}.`,
        proof: [
          ...(durable
            ? [
                'testops-admin reset-queues -d {deployment}   # changes the setting and the queues, and keeps ' +
                  'the messages',
              ]
            : []),
          rabbitmqctl(broker, 'list_queues name durable messages'),
        ],
      },
    }
  } catch (error) {
    if (error instanceof AdminError && error.code !== 'INTERRUPTED')
      return { note: `cannot tell whether the existing queues match the setting: ${error.message}` }
    throw error
  }
}

/** The vendor as far as flags name it. */
export type GivenVendor = Partial<Vendor>

/** A setting by its name, or by its purpose. */
interface NamedWish extends Pick<SettingWish, 'to'> {
  name?: string
  known?: KnownSetting
}

/** The flags that name the vendor, as `set-env` takes them. */
export const vendorFlag = {
  prefix: '--vendor-prefix PREFIX   # or set vendor.prefix in the configuration',
  package: '--vendor-package PACKAGE   # or set vendor.package in the configuration',
} as const

/** What shows the vendor of a deployment's settings. */
interface VendorWitnesses {
  given: GivenVendor | undefined
  deployment: Pick<Deployment, 'vendor' | 'assumedVendor'>
  /** Names of all existing settings, wherever they are set */
  names: Iterable<string>
  /** Where these were found, for people */
  lookedIn: string
  /** Returns what to type if that part is unknown */
  next: (part: keyof Vendor) => readonly Suggestion[]
}

/**
 * Finds the vendor whose names are used to write settings: from flags, else the configuration, else the only one that
 * existing names show. Throws REFUSED if a wish needs an unknown vendor, or is named after another one.
 */
export function vendorToWrite(
  wishes: readonly NamedWish[],
  witnesses: VendorWitnesses,
): { vendor: Vendor; names: SettingNames } {
  const present = new Set(witnesses.names)
  const prefix = settled('prefix', witnesses, vendorSigns(present).prefixes)
  const packages = packagesIn(present, prefix.one)
  const ofLoggers = settled('package', witnesses, packages)
  const vendor = { prefix: prefix.one ?? defaultVendor.prefix, package: ofLoggers.one ?? defaultVendor.package }
  for (const { known, name, to } of wishes) {
    // no setting shows such a name, so there is nothing to remove
    if (
      known !== undefined &&
      to === null &&
      (known === 'integrationLogLevel' ? ofLoggers : prefix).several.length === 0
    )
      continue
    if (known === 'integrationLogLevel' && ofLoggers.one === null)
      throw unknownVendor('package', ofLoggers.several, witnesses)
    if (known !== undefined && known !== 'integrationLogLevel' && prefix.one === null)
      throw unknownVendor('prefix', prefix.several, witnesses)
    // an existing setting may be changed or removed
    if (name === undefined || to === null || present.has(name)) continue
    const own = prefixOf(name) ?? (name.startsWith(`${defaultVendor.prefix}_`) ? defaultVendor.prefix : null)
    if (own === null || own === prefix.one) continue
    if (prefix.one !== null) throw otherPrefix(name, own, prefix.one)
    if (own === defaultVendor.prefix) throw unknownVendor('prefix', prefix.several, witnesses)
  }
  return { vendor, names: settingNames(vendor) }
}

/** `one`: null if unknown. `several`: the candidates, if existing names show more than one. */
function settled(
  part: keyof Vendor,
  { given, deployment }: VendorWitnesses,
  found: readonly string[],
): { one: string | null; several: readonly string[] } {
  const configured = deployment.assumedVendor?.includes(part) ? undefined : deployment.vendor[part]
  const one = given?.[part] ?? configured ?? (found.length === 1 ? found[0]! : null)
  return { one, several: one === null ? found : [] }
}

/**
 * Returns the packages of loggers that have one, else of a logger named by the package alone, which ends like the
 * prefix (FIELD-NOTES.md 0 and 1.3).
 */
function packagesIn(names: ReadonlySet<string>, prefix: string | null): readonly string[] {
  const { packages } = vendorSigns(names)
  if (packages.length > 0 || prefix === null) return packages
  return [...names].flatMap((name) =>
    name.startsWith('LOGGING_LEVEL_') && name.endsWith(`_${prefix}`) ? [name.slice('LOGGING_LEVEL_'.length)] : [],
  )
}

function unknownVendor(
  part: keyof Vendor,
  several: readonly string[],
  { lookedIn, next }: VendorWitnesses,
): AdminError {
  const what = part === 'prefix' ? "the prefix of the vendor's settings" : "the package of the vendor's loggers"
  const sign =
    part === 'prefix'
      ? 'ends in _RABBIT_DURABLE or _JWT_ACCESS_TOKEN_VALIDITY_SECONDS'
      : 'begins with LOGGING_LEVEL_ and ends in _INTEGRATION or _REPORT_ISSUE_LISTENER'
  const why =
    several.length > 1
      ? `several appear in ${lookedIn} (${several.slice(0, 5).join(', ')})`
      : `no name in ${lookedIn} ${sign}`
  return new AdminError('REFUSED', `${what} is unknown: ${why}. Nothing was changed`, next(part))
}

function otherPrefix(name: string, own: string, prefix: string): AdminError {
  const meant = `${prefix}${name.slice(own.length)}`
  return new AdminError(
    'REFUSED',
    `the service does not read ${name}: its settings begin with ${prefix}_. Nothing was changed`,
    [command`testops-admin set-env ${meant}=VALUE`],
  )
}
