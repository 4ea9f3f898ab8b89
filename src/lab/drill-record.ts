import { readFile, rename, rm } from 'node:fs/promises'
import { uptime } from 'node:os'
import { join } from 'node:path'
import { AdminError, codeOf, messageOf } from '../core/error.ts'
import { asPath, command } from '../core/shell-command.ts'
import { plainFile } from '../adapters/open-file.ts'
import { stateHome } from '../runtime/index.ts'
import type { LabLayout } from './layout.ts'
import { writePrivate } from './servers/record.ts'
import { sealed, unsealed } from './state.ts'

/** What decides which faults a drill has. */
export interface DrillRequest {
  faults: 1 | 2
  /** the same seed draws the same faults */
  seed: number
  /** only faults whose root cause is found by checks of this group, such as `broker`; null: all */
  only: string | null
}

/** The drill that is under way: drill.json in the lab's folder, written before each step. */
export interface DrillRecord {
  id: string
  /** breaking: the lab is not broken yet, or only in part, so the clock has not started */
  phase: 'breaking' | 'running'
  request: DrillRequest
  /** names of the faults */
  faults: readonly string[]
  start: Instant
  /** the check that was named for each fault so far, and when, in seconds since the start */
  named: readonly { fault: string; check: string; seconds: number }[]
  wrong: number
  /** when doctor was first seen healthy, in seconds since the start; null: it was not, or is no longer */
  healthySeconds: number | null
}

/** How a drill ended: done: doctor was healthy; given-up; mended: by `lab mend`; abandoned: the lab was removed. */
export type DrillOutcome = 'done' | 'given-up' | 'mended' | 'abandoned'

/** A drill that has ended. */
export interface PastDrill {
  id: string
  /** ISO */
  startedAt: string
  outcome: DrillOutcome
  request: DrillRequest
  faults: readonly string[]
  named: DrillRecord['named']
  wrong: number
  seconds: number
  /** seconds until every root cause was named; null: not all were */
  diagnosisSeconds: number | null
  /** seconds until doctor was healthy; null: it was not */
  healthySeconds: number | null
  /** true if the machine was restarted since the start, so that only its clock could tell the times */
  isByClock: boolean
}

/** A moment, by the machine's clock and by the seconds since its start, which setting the clock does not change. */
export interface Instant {
  /** ISO */
  at: string
  uptimeSeconds: number
  /** identifies this start of the machine; null: unknown */
  boot: string | null
}

/** Reads both clocks of this machine. */
export async function currentInstant(): Promise<Instant> {
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => null)
  return { at: new Date().toISOString(), uptimeSeconds: uptime(), boot: boot === null ? null : boot.trim() }
}

/** Returns the seconds between two moments. `isByClock`: the machine was restarted, so they are those of its clock. */
export function secondsBetween(from: Instant, to: Instant): { seconds: number; isByClock: boolean } {
  const isByClock = from.boot !== to.boot || to.uptimeSeconds < from.uptimeSeconds
  const seconds = isByClock ? (Date.parse(to.at) - Date.parse(from.at)) / 1000 : to.uptimeSeconds - from.uptimeSeconds
  return { seconds: Math.max(0, Math.round(seconds)), isByClock }
}

/** Far more than a drill takes */
const mostBytes = 100_000

/** Reads the drill that is under way; null: there is none. Throws FAILED if its file cannot be used. */
export async function readDrill({ drill }: LabLayout): Promise<DrillRecord | null> {
  try {
    const stored = JSON.parse((await plainFile(drill, mostBytes)).toString('utf8')) as Partial<StoredDrill> | null
    if (stored?.schemaVersion !== 1) throw new Error('another version of testops-admin wrote it')
    const record = unsealed<DrillRecord>(stored.sealed ?? '')
    if (!isRecord(record)) throw new Error('it is damaged')
    return record
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw new AdminError(
      'FAILED',
      `cannot use ${drill}, the record of the drill under way: ${messageOf(error)}`,
      ['testops-admin lab mend   # ends the drill'],
      { cause: error },
    )
  }
}

function isRecord(record: Partial<DrillRecord> | null): boolean {
  return (
    typeof record?.start?.at === 'string' &&
    Number.isFinite(Date.parse(record.start.at)) &&
    typeof record.start.uptimeSeconds === 'number' &&
    Array.isArray(record.faults) &&
    record.faults.every((name) => typeof name === 'string') &&
    Array.isArray(record.named) &&
    typeof record.request === 'object'
  )
}

interface StoredDrill {
  schemaVersion: 1
  sealed: string
}

export async function writeDrill({ drill }: LabLayout, record: DrillRecord): Promise<void> {
  const stored: StoredDrill = { schemaVersion: 1, sealed: sealed(record) }
  await writePrivate(drill, `${JSON.stringify(stored)}\n`)
}

export type DrillPhase = DrillRecord['phase'] | 'unreadable'

/** Says whether a drill is under way, even if its record is damaged; null: none is. */
export async function drillPhase(layout: LabLayout): Promise<{ phase: DrillPhase; startedAt: string | null } | null> {
  try {
    const record = await readDrill(layout)
    return record && { phase: record.phase, startedAt: record.phase === 'running' ? record.start.at : null }
  } catch {
    return { phase: 'unreadable', startedAt: null }
  }
}

/** Throws REFUSED if a drill is under way: the caller's command would give its faults away, or add others. */
export async function refuseInDrill(layout: LabLayout, words: string): Promise<void> {
  if ((await drillPhase(layout)) === null) return
  throw new AdminError('REFUSED', `cannot run \`${words}\` during a drill`, [
    'testops-admin lab drill   # shows where the drill stands',
    'testops-admin lab drill --give-up',
  ])
}

/**
 * Ends the drill that is under way, and puts it on record. Returns null if none was, or if it had not begun. A damaged
 * record is removed.
 */
export async function endDrill(
  layout: LabLayout,
  outcome: DrillOutcome,
  note: (message: string) => void,
): Promise<PastDrill | null> {
  const record = await readDrill(layout).catch(() => null)
  const past = record?.phase === 'running' ? await ended(record, outcome) : null
  // on record first: if this is killed, the drill ends again, and replaces its entry
  if (past)
    await keep(past, note).catch((error: unknown) =>
      note(`could not put this drill on record in ${drillHistoryFile()}: ${messageOf(error)}`),
    )
  await rm(layout.drill, { recursive: true, force: true })
  return past
}

async function ended(record: DrillRecord, outcome: DrillOutcome): Promise<PastDrill> {
  const { id, request, faults, start, named, wrong, healthySeconds } = record
  const isDiagnosed = faults.every((fault) => named.some((it) => it.fault === fault))
  return {
    id,
    startedAt: start.at,
    outcome,
    request,
    faults,
    named,
    wrong,
    diagnosisSeconds: isDiagnosed ? Math.max(...named.map(({ seconds }) => seconds)) : null,
    healthySeconds: outcome === 'done' ? healthySeconds : null,
    ...secondsBetween(start, await currentInstant()),
  }
}

/** Drills that are kept on record, the latest ones */
const mostDrills = 200

/** Returns the file of the drills that have ended. It outlives the lab, and all labs of this user share it. */
export function drillHistoryFile(): string {
  return join(stateHome(process.env), 'lab-drills.json')
}

/** Reads the drills that have ended, oldest first. Throws FAILED if their file cannot be used. */
export async function pastDrills(): Promise<readonly PastDrill[]> {
  const file = drillHistoryFile()
  try {
    const value = JSON.parse((await plainFile(file, 10 * mostBytes)).toString('utf8')) as Partial<History> | null
    if (value?.schemaVersion !== 1) throw new Error('another version of testops-admin wrote it')
    if (!areDrills(value.drills)) throw new Error('it is damaged')
    return value.drills
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw new AdminError(
      'FAILED',
      `cannot use ${file}, the record of past drills: ${messageOf(error)}`,
      [command`mv ${asPath(file)} ${`${asPath(file)}.unusable`}   # the next drill begins a new record`],
      { cause: error },
    )
  }
}

function areDrills(value: unknown): value is readonly PastDrill[] {
  return Array.isArray(value) && value.every(isPast)
}

function isPast(drill: Partial<PastDrill> | null): boolean {
  return (
    typeof drill?.startedAt === 'string' &&
    typeof drill.outcome === 'string' &&
    typeof drill.seconds === 'number' &&
    typeof drill.request === 'object' &&
    Array.isArray(drill.faults) &&
    drill.faults.every((name) => typeof name === 'string') &&
    Array.isArray(drill.named)
  )
}

interface History {
  schemaVersion: 1
  drills: readonly PastDrill[]
}

async function keep(past: PastDrill, note: (message: string) => void): Promise<void> {
  const file = drillHistoryFile()
  const before = await pastDrills().catch(async (error: unknown): Promise<readonly PastDrill[]> => {
    await rename(file, `${file}.unusable`)
    note(`${messageOf(error)}; it is now ${file}.unusable`)
    return []
  })
  const drills = [...before.filter(({ id }) => id !== past.id), past].slice(-mostDrills)
  await writePrivate(file, `${JSON.stringify({ schemaVersion: 1, drills } satisfies History, null, 2)}\n`)
}
