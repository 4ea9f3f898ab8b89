import type { Suggestion } from './shell-command.ts'

/** What is known of a deployment before anything is opened. */
export interface Deployment {
  name: string
  /** the configuration file that a flag named: commands to type name it too */
  config?: string
  /** it is no more than this file: commands to type name it by its flag */
  file?: NamedFile
  /** no configuration names it: what was found and is used, for people */
  found?: string
  platform: PlatformName
  /**
   * the cluster that it is in, as this machine reaches it, and the namespace; or the engine, where that is not this
   * machine's usual one: the same name may be in several
   */
  cluster?: string
  /** the vendor's prefix of settings and package of loggers (FIELD-NOTES.md 0) */
  vendor: { prefix: string; package: string }
  /**
   * of which neither the configuration nor the service's settings say one and no other: nothing is written under such a
   * name
   */
  assumedVendor?: readonly ('prefix' | 'package')[]
  /** time zone of the service's JVM, an IANA name; null: unknown */
  timeZone: string | null
  /** what of its configuration can be corrected by hand; absent: no configuration names it */
  editable?: Editable
  /** it is read from the service's settings, above which the command line of a JVM may stand */
  isTimeZoneAssumed?: true
}

/** A secret of the configuration, by the part that it opens. */
export type SecretName = 'apiToken' | 'database' | 'broker' | 'sessions'

export interface Editable {
  /** absolute path of the configuration file */
  configuration: string
  /** what is typed on this machine to enter that secret anew */
  secrets: Readonly<Partial<Record<SecretName, Suggestion>>>
  /** it names the file of values, or of compose, in which the service's image is written */
  namesValues?: true
}

/** A file of settings that is worked on by itself, and the flag that names it. */
export interface NamedFile {
  flag: '--values' | '--compose'
  /** absolute */
  path: string
}

export type PlatformName = 'host' | 'compose' | 'kubernetes'
