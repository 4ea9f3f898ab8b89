import type { AdminError } from './error.ts'
import type { Secret } from './secret.ts'
import type { Suggestion } from './shell-command.ts'

/** What is known of a deployment before anything is opened. */
export interface Deployment {
  name: string
  /** The configuration file that a flag named: suggested commands name it too */
  config?: string
  /** Set if the deployment is only this file: suggested commands name it by its flag */
  file?: NamedFile
  /** What was found and is used if no configuration names the deployment, for people */
  found?: string
  platform: PlatformName
  /**
   * The cluster, as this machine reaches it, and the namespace; or the container engine, if it is not this machine's
   * usual one. The same name may be in several
   */
  cluster?: string
  /** The vendor's prefix of settings and package of loggers (FIELD-NOTES.md 0) */
  vendor: { prefix: string; package: string }
  /**
   * Parts of `vendor` for which neither the configuration nor the service's settings give exactly one value: nothing is
   * written under such a name
   */
  assumedVendor?: readonly ('prefix' | 'package')[]
  /** Time zone of the service's JVM, an IANA name; null: unknown */
  timeZone: string | null
  /** What can be corrected by hand in its configuration; absent: no configuration names it */
  editable?: Editable
  /** Checks whose problems do not count in a diagnosis; a repair verifies as if there were none */
  ignore?: readonly Ignored[]
  /** Set if it is read from the service's settings, which the command line of a JVM may override */
  isTimeZoneAssumed?: true
}

/** A check whose problems the operator ignores for a while. */
export interface Ignored {
  check: string
  reason: string
  /** Last day, in UTC: 2027-01-31 */
  until: string
}

/** A secret of the configuration, by the part that it opens. */
export type SecretName = 'apiToken' | 'database' | 'broker' | 'sessions'

export interface Editable {
  /** Absolute path of the configuration file */
  configuration: string
  /** What to type on this machine to enter that secret again */
  secrets: Readonly<Partial<Record<SecretName, Suggestion>>>
  /** Set if it names the values or compose file in which the service's image is written */
  namesValues?: true
}

/** A file of settings that is worked on by itself, and the flag that names it. */
export interface NamedFile {
  flag: '--values' | '--compose'
  /** Absolute path */
  path: string
}

export type PlatformName = 'host' | 'compose' | 'kubernetes'

/** Settings of which some could not be read, not even their names: a setting missing here may still be set. */
export class PartialSettings extends Map<string, string | Secret> {
  constructor(
    entries: Iterable<readonly [string, string | Secret]>,
    readonly missing: AdminError,
  ) {
    super(entries)
  }
}
