import type { Deployment } from '../../core/deployment.ts'
import { AdminError } from '../../core/error.ts'
import { command } from '../../core/shell-command.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import { defaultVendor, prefixOf, settingNames, vendorSigns } from '../../knowledge/settings.ts'
import type { SettingNames, Vendor } from '../../knowledge/settings.ts'
import type { KnownSetting, SettingWish } from './change.ts'

/** The vendor as far as flags name it. */
export type GivenVendor = Partial<Vendor>

/** A setting by its name, or by its purpose. */
interface NamedWish extends Pick<SettingWish, 'to'> {
  name?: string
  known?: KnownSetting
}

/** The flags that name the vendor, as `set-env` takes them. */
export const vendorFlag = {
  prefix: '--vendor-prefix PREFIX   # or vendor.prefix in the configuration',
  package: '--vendor-package PACKAGE   # or vendor.package in the configuration',
} as const

/** What shows the vendor of a deployment's settings. */
export interface VendorWitnesses {
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
      ? 'no name ends in _RABBIT_DURABLE or _JWT_ACCESS_TOKEN_VALIDITY_SECONDS'
      : 'no name begins with LOGGING_LEVEL_ and ends in _INTEGRATION or _REPORT_ISSUE_LISTENER'
  const why =
    several.length > 1 ? `several appear in ${lookedIn}: ${several.slice(0, 5).join(', ')}` : `${sign} in ${lookedIn}`
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
