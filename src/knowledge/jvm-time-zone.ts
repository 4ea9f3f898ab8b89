import { jvmOptions } from './jvm-options.ts'
import { springSettings } from './settings.ts'

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
