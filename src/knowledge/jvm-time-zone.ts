import { jvmOptions } from './jvm-options.ts'
import { springSettings } from './settings.ts'

/** Where the service's settings name the time zone of its JVM. */
export interface NamedTimeZone {
  /** the variable's name */
  setting: string
  /** what to look for in it, without what else it may hold */
  shown: string
  /** as it is written: it may be the name of none */
  zone: string
}

const option = /(?:^|[\s"'])-Duser\.timezone=["']?([^\s"']+)/g

/** An option of the JVM stands above `TZ` (FIELD-NOTES.md 2). Null: the settings name no zone. */
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
