import { AdminError } from '../../core/error.ts'
import { asUtc, localTimeReader, parseLocalTime } from '../../core/local-time.ts'
import { command } from '../../core/shell-command.ts'

const unitMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 } as const
const date = /^\d{4}-\d{2}-\d{2}$/
const time = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2}(?:[.,]\d{1,9})?)?\s*(Z|[+-]\d{2}:?\d{2})?$/i

/** A moment as a flag names it: the moment itself, once the zone is known in which the log is written. */
export type When = (timeZone: string) => Date

/**
 * `2h`, `30m`, `1d12h` before now; `2026-11-22`, `2026-11-22T10:00`, with seconds or not, with an offset, or in the
 * time of the log. Throws USAGE.
 */
export function when(flag: '--since' | '--until', text: string, now = Date.now()): When {
  const ago = agoMs(text.trim())
  if (ago !== null) return () => new Date(Math.max(0, now - ago))
  const [, day, minutes, seconds = ':00', zone] = time.exec(text.trim()) ?? []
  const local = parseLocalTime(date.test(text.trim()) ? `${text.trim()} 00:00:00` : `${day} ${minutes}${seconds}`)
  if (local === null || asUtc(local).getUTCDate() !== local.day) throw noTime(flag, text)
  if (zone === undefined) return (timeZone) => localTimeReader(timeZone)(local)
  return () => new Date(asUtc(local).getTime() - offsetMs(zone))
}

/** Null: no such text. */
function agoMs(text: string): number | null {
  if (!/^(?:\d{1,9}[smhdw])+$/.test(text)) return null
  return [...text.matchAll(/(\d{1,9})([smhdw])/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * unitMs[unit as keyof typeof unitMs],
    0,
  )
}

function offsetMs(zone: string): number {
  if (/^z$/i.test(zone)) return 0
  const sign = zone.startsWith('-') ? -1 : 1
  return sign * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2))) * 60_000
}

function noTime(flag: string, text: string): AdminError {
  return new AdminError('USAGE', `${flag}: invalid time \`${text}\``, [
    command`${flag} 2h`,
    command`${flag} 2026-11-22`,
    command`${flag} 2026-11-22T10:30`,
    command`${flag} 2026-11-22T10:30:00+03:00`,
  ])
}
