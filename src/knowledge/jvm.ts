import { springSettings } from './settings.ts'

/**
 * Variables with options of the JVM, the strongest first, because the last of several options counts. Start scripts
 * write the first on the command line, `java` puts the second before that, and the JVM reads the third before both.
 */
export const jvmOptions = ['JAVA_OPTS', 'JDK_JAVA_OPTIONS', 'JAVA_TOOL_OPTIONS'] as const

/**
 * Returns the value of a system property (`-Dname=value`) in the service's settings; undefined if none of them sets it.
 * `valueOf`: returns the value of a setting.
 */
export function systemProperty(name: string, valueOf: (name: string) => string | undefined): string | undefined {
  for (const setting of jvmOptions) {
    const words = (valueOf(setting) ?? '').split(/[\s"']+/)
    const value = words.findLast((word) => word.startsWith(`-D${name}=`))?.slice(name.length + 3)
    if (value !== undefined && value !== '') return value
  }
  return undefined
}

/** Where the service's settings name the time zone of its JVM. */
export interface NamedTimeZone {
  /** Name of the variable */
  setting: string
  /** What to look for in it, without what else it may contain */
  shown: string
  /** The zone as it is written, which may be invalid */
  zone: string
}

const option = /(?:^|[\s"'])-Duser\.timezone=["']?([^\s"']+)/g

/** Returns the zone; an option of the JVM takes precedence over `TZ` (FIELD-NOTES.md 2). Null if none is named. */
export function namedTimeZone(valueOf: (name: string) => string | undefined): NamedTimeZone | null {
  for (const setting of jvmOptions) {
    const zone = [...(valueOf(setting) ?? '').matchAll(option)].at(-1)?.[1]
    if (zone !== undefined) return { setting, zone, shown: `-Duser.timezone=${zone}` }
  }
  const setting = springSettings.timeZone
  // POSIX lets a zone's name begin with a colon
  const zone = valueOf(setting)?.replace(/^:/, '') ?? ''
  return zone === '' ? null : { setting, zone, shown: `${setting}=${zone}` }
}
