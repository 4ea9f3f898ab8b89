import type { PlatformName } from '../../core/deployment.ts'
import { traitsOf } from '../../knowledge/platforms.ts'
import { masked } from '../../domain/last-words.ts'
import { tolerant } from '../../domain/wanted.ts'
import { AdminError } from '../../core/error.ts'
import { asUtc, isTimeZone, localTimeReader, parseLocalTime, zoneHere } from '../../core/local-time.ts'
import { fillCommand } from '../../engine/remedy.ts'
import type { Inputs } from '../../runtime/scan/index.ts'
import { chosenDeployment } from '../chosen-deployment.ts'
import { noteIgnored } from '../write.ts'
import { filledError } from '../repair/session.ts'
import type { About } from './document.ts'
import { command, nested, typed } from '../../core/shell-command.ts'
import type { Suggestion } from '../../core/shell-command.ts'

/** The flags of `scan-logs` that say what to scan. */
export interface SourceFlags {
  deployment?: string | undefined
  config?: string | undefined
  timeout?: number | undefined
  since?: string | undefined
  until?: string | undefined
  'time-zone'?: string | undefined
  follow: boolean
}

/** What to scan, and what is known about it. */
export interface Session {
  inputs: Inputs
  about: About
  close: () => Promise<void>
}

export interface Surroundings {
  signal: AbortSignal
  tell: (message: string) => void
  input: AsyncIterable<Uint8Array>
}

const defaultTimeoutSeconds = 10

/** Returns a session for named files, `-` for standard input. Throws USAGE. */
export async function filesSession(
  names: readonly string[],
  flags: SourceFlags,
  { tell, input }: Surroundings,
): Promise<Session> {
  const asked = askedOf(flags, null)
  await noteIgnored(flags)
  const { inputsIn } = await import('../../runtime/scan/index.ts')
  const inputs = await inputsIn(names, { timeZone: asked.timeZone, input, follow: flags.follow ? tell : null })
  return {
    inputs,
    about: { ...asked, typed: (command) => command, hide: (text) => masked(text, null) },
    close: async () => undefined,
  }
}

/**
 * Returns a session for the log of the deployment that the flags name or that is found. Throws what finding and opening
 * it throws.
 */
export async function deploymentSession(flags: SourceFlags, { signal, tell }: Surroundings): Promise<Session> {
  // reports invalid flags before anything is searched for
  askedOf(flags, null)
  const { openDeployment } = await import('../../runtime/index.ts')
  const { inputsOf } = await import('../../runtime/scan/index.ts')
  const { timeout = defaultTimeoutSeconds, config } = flags
  const selected = await chosenDeployment(flags, signal)
  const opened = await openDeployment(selected, { timeoutMs: timeout * 1000, environment: process.env, config, signal })
  const { deployment, open, close, commands } = opened
  try {
    const asked = askedOf(flags, deployment)
    const inputs = await inputsOf(await open.logs(), { since: asked.since, signal, follow: flags.follow ? tell : null })
    const environment = (await tolerant(open.service().then(async (service) => service.environment()))) ?? null
    const typed = (asked: Suggestion): Suggestion => fillCommand(onDeployment(asked), deployment, commands)
    return {
      inputs,
      about: { ...asked, deployment: deployment.name, typed, hide: (text) => masked(text, environment) },
      close,
    }
  } catch (error) {
    await close()
    throw error instanceof AdminError ? filledError(error, opened) : error
  }
}

/** Adds `-d` to this program's commands, except those that edit a file or explain. */
function onDeployment(asked: Suggestion): Suggestion {
  return /^testops-admin (?!use-legacy-image|explain)/.test(asked) && !asked.includes('{')
    ? command`${nested(asked)} -d {deployment}`
    : asked
}

/** Reads the time flags. Throws USAGE if one is invalid, or if they leave no time. */
function askedOf(
  { since, until, 'time-zone': named }: SourceFlags,
  deployment: { platform: PlatformName; timeZone: string | null } | null,
): Pick<About, 'timeZone' | 'assumedFrom' | 'since' | 'until'> {
  if (named !== undefined && !isTimeZone(named))
    throw new AdminError('USAGE', `--time-zone: unknown time zone \`${named}\``, [
      '--time-zone UTC',
      '--time-zone Europe/Moscow',
    ])
  const zone = named ?? deployment?.timeZone ?? null
  const isHere = deployment === null || traitsOf(deployment).sharesMachine
  const timeZone = zone ?? (isHere ? zoneHere() : 'UTC')
  const assumedFrom = zone !== null ? null : isHere ? "this machine's zone" : 'the usual zone of containers'
  const from = since === undefined ? undefined : when('--since', since)(timeZone)
  const to = until === undefined ? undefined : when('--until', until)(timeZone)
  if (from && to && from >= to) throw new AdminError('USAGE', '--since must be before --until')
  return { timeZone, assumedFrom, since: from, until: to }
}

const unitMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 } as const
const date = /^\d{4}-\d{2}-\d{2}$/
const time = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2}(?:[.,]\d{1,9})?)?\s*(Z|[+-]\d{2}:?\d{2})?$/i

/** A moment as a flag names it. Returns the moment itself for the time zone in which the log is written. */
type When = (timeZone: string) => Date

/**
 * Reads `2h`, `30m`, `1d12h` before now, or `2026-11-22`, `2026-11-22T10:00`, with or without seconds. Without an
 * offset, a time is in the time zone of the log. Throws USAGE.
 */
export function when(flag: '--since' | '--until' | '--backup-taken', text: string, now = Date.now()): When {
  const ago = agoMs(text.trim())
  if (ago !== null) return () => new Date(Math.max(0, now - ago))
  const [, day, minutes, seconds = ':00', zone] = time.exec(text.trim()) ?? []
  const local = parseLocalTime(date.test(text.trim()) ? `${text.trim()} 00:00:00` : `${day} ${minutes}${seconds}`)
  if (local === null || asUtc(local).getUTCDate() !== local.day) throw noTime(flag, text)
  if (zone === undefined) return (timeZone) => localTimeReader(timeZone)(local)
  return () => new Date(asUtc(local).getTime() - offsetMs(zone))
}

/** Returns a duration such as `1d12h` in milliseconds; null for any other text. */
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
    typed([flag, '2h']),
    typed([flag, '2026-11-22']),
    typed([flag, '2026-11-22T10:30']),
    typed([flag, '2026-11-22T10:30:00+03:00']),
  ])
}
