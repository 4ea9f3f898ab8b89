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
  /** the cluster that it is in, as this machine reaches it, and the namespace; or the engine, where that is not this machine's usual one: the same name may be in several */
  cluster?: string
  /** the vendor's prefix of settings and package of loggers (FIELD-NOTES.md 0) */
  vendor: { prefix: string; package: string }
  /** time zone of the service's JVM, an IANA name; null: unknown */
  timeZone: string | null
  /** it is read from the service's settings, above which the command line of a JVM may stand */
  isTimeZoneAssumed?: true
}

/** A file of settings that is worked on by itself, and the flag that names it. */
export interface NamedFile {
  flag: '--values' | '--compose'
  /** absolute */
  path: string
}

export type PlatformName = 'host' | 'compose' | 'kubernetes'
