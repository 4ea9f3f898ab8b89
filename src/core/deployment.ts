/** What is known of a deployment before anything is opened. */
export interface Deployment {
  name: string
  /** the configuration file that a flag named: commands to type name it too */
  config?: string
  platform: PlatformName
  /** the vendor's prefix of settings and package of loggers (FIELD-NOTES.md 0) */
  vendor: { prefix: string; package: string }
  /** time zone of the service's JVM, an IANA name; null: unknown */
  timeZone: string | null
  /** it is read from the service's settings, above which the command line of a JVM may stand */
  isTimeZoneAssumed?: true
}

export type PlatformName = 'host' | 'compose' | 'kubernetes'
