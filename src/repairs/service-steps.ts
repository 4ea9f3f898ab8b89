import { refuseOwnedByOthers } from '../core/by-others.ts'
import type { Wanted } from '../core/check.ts'
import type { Deployment } from '../core/deployment.ts'
import { AdminError, isForbidden } from '../core/error.ts'
import type { Risk, Step } from '../core/plan.ts'
import type {
  ApiSource,
  ServiceSource,
  ServiceStatus,
  StartObstacle,
  DatabaseSource,
  Sources,
} from '../core/sources.ts'
import { valuesKey } from '../knowledge/chart.ts'
import { traitsOf } from '../knowledge/platforms.ts'
import { listed } from '../core/format.ts'
import { lockDatabases } from '../domain/lock/databases.ts'
import { judgeHolder } from '../domain/lock/holder.ts'
import { askedFor, sortOut } from '../domain/lock/row.ts'
import { situationOf, surroundings } from '../domain/lock/situation.ts'
import type { Around, Surroundings } from '../domain/lock/situation.ts'
import { had } from '../domain/wanted.ts'
import { secondMigrationRisks } from '../domain/lock/steps.ts'

/**
 * Returns the risk that a controller starts the service while a plan has it stopped; a paused one is no risk. Throws
 * REFUSED if something else owns instances of the service, and as the source does.
 */
export async function controllerRisks(service: ServiceSource): Promise<Risk[]> {
  refuseOwnedByOthers(await service.status())
  const atWork = (await service.controllers()).filter(({ paused }) => paused !== true)
  if (atWork.length === 0) return []
  return [
    {
      name: 'controller',
      message:
        `${atWork.map(({ name }) => name).join(' and ')} may start the service while it should stay stopped, or ` +
        'revert the changes of this repair',
      proof: atWork.flatMap(({ pause }) => pause),
    },
  ]
}

/** Returns what to know about a start if this user may not ask the service whether it is ready. */
export function unaskedNotes(api: Wanted<ApiSource>): string[] {
  if (!(api instanceof AdminError) || !isForbidden(api)) return []
  return [
    `cannot check that the service answers: ${api.message}. The service counts as started when the platform ` +
      'reports it ready',
  ]
}

/** Returns what to know about a setting that is written where the service runs, and not where it is declared. */
export function settingNotes(deployment: Deployment, { name, to }: { name: string; to: string | null }): string[] {
  if (!traitsOf(deployment).rollsOut) return []
  if (to === null)
    return [
      `${name} is removed from the pod template only. If the values file sets it, the next helm upgrade brings it back`,
    ]
  return [
    `${name} is set in the pod template only. The next helm upgrade silently reverts it, unless the values ` +
      `file sets it too: ${valuesKey}: {${name}: "${to}"}`,
  ]
}

/** Returns the step that stops the service. `status`: its current status; null if unknown. */
export function stopStep(status: ServiceStatus | null): Step {
  const runs = status?.state === 'running'
  // an undo of the stop leaves a service that restarts again and again as it was
  return {
    title: 'stop the service',
    action: { kind: 'stop-service', wasRunning: runs || status?.startsAgain === true },
    interrupts: runs,
  }
}

/** Returns the step that starts the service. `locks`: change-log locks that must also be free at the end. */
export function startStep(locks: readonly { database: string; schema: string }[] = []): Step {
  const until =
    locks.length === 0
      ? 'it answers'
      : `it answers and the change-log ${locks.length === 1 ? 'lock is' : 'locks are'} free`
  return {
    title: `start the service and wait until ${until}`,
    action: { kind: 'start-service', ...(locks.length > 0 && { locks }) },
    interrupts: false,
  }
}

/**
 * Returns the risk that the service may not come back after a stop. `mends`: kinds of obstacles that the repair itself
 * may remove, as they may be the fault it is for. `stops`: false if new instances start before the old ones stop.
 * Throws as the source does.
 */
export async function rolloutRisks(
  service: ServiceSource,
  { mends = [], stops = true }: { mends?: readonly StartObstacle['kind'][]; stops?: boolean } = {},
): Promise<Risk[]> {
  const obstacles = (await service.startObstacles()).filter(({ kind }) => !mends.includes(kind))
  if (obstacles.length === 0) return []
  return [
    {
      name: 'stuck-rollout',
      message:
        `${stops ? 'the service may not start again after a stop' : 'the new instances may never start'}: ` +
        `${obstacles.map(({ message }) => message).join('; ')}`,
      proof: [...new Set(obstacles.flatMap(({ proof }) => proof))],
    },
  ]
}

interface Read extends Around {
  service: ServiceSource
  database: Wanted<Sources['database']>
}

/** The service before it is stopped or started. */
export interface SeenService {
  target: string
  status: ServiceStatus
  /** Risks of stopping it now */
  risks: readonly Risk[]
  /** Risks of starting it now */
  startRisks: readonly Risk[]
  notes: readonly string[]
}

/**
 * Looks at the service. `toStop`: also finds what a stop endangers. `toStart`: also finds what to know about its start.
 * Throws REFUSED if something else owns instances of it.
 */
export async function lookAtService(
  { service, database, logs, api }: Read,
  deployment: Deployment,
  { toStop = true, toStart = true } = {},
): Promise<SeenService> {
  const status = await service.status()
  refuseOwnedByOthers(status)
  const around = await surroundings({ service, logs, api }, deployment)
  const { name, build, declaredIn } = await service.image()
  // a pod belongs to no particular node
  const where = traitsOf(deployment).sharesMachine ? listed([...(around.machines ?? [])]) : declaredIn
  const target = [where, name === null ? '' : `image ${name}`, build === null ? '' : `build ${build}`]
    .filter(Boolean)
    .join(', ')
  const startRisks = toStart ? await secondMigrationRisks(logs, status, deployment) : []
  const seen = { target: target || 'the service', status, startRisks }
  const unasked = toStart ? unaskedNotes(api) : []
  if (!toStop) return { ...seen, risks: [], notes: unasked }
  const locks = status.state === 'running' ? await migrations(database, around) : { risks: [], notes: [] }
  return {
    ...seen,
    risks: [...locks.risks, ...(await rolloutRisks(service)), ...(await controllerRisks(service))],
    notes: [...locks.notes, ...unasked],
  }
}

/**
 * Finds out whether a stop would interrupt a migration: that leaves the change-log lock held and the migration
 * unfinished. A service that answers has finished its migration, so an unproven lock is then no risk.
 */
async function migrations(
  database: Wanted<Sources['database']>,
  around: Surroundings,
): Promise<Pick<SeenService, 'risks' | 'notes'>> {
  const databases = had(database)
  if (databases === null) {
    const why = database instanceof AdminError ? database.message : 'the database is unknown'
    return {
      risks: [],
      notes: around.answers
        ? []
        : [`cannot tell whether the service is migrating, because its database cannot be queried: ${why}`],
    }
  }
  const all = await lockDatabases(databases, around).catch((error: unknown) => {
    if (error instanceof AdminError) return error
    throw error
  })
  if (all instanceof AdminError)
    return {
      risks: [],
      notes: around.answers ? [] : [`cannot tell whether the service is migrating its database: ${all.message}`],
    }
  const found = await Promise.all(
    all.map(async (it, index) => holderAt(it, index === 0 ? around : { ...around, liquibase: null })),
  )
  return { risks: found.flatMap(({ risk }) => risk ?? []).slice(0, 1), notes: found.flatMap(({ note }) => note ?? []) }
}

async function holderAt(database: DatabaseSource, around: Surroundings): Promise<{ risk?: Risk; note?: string }> {
  try {
    const { row = null } = sortOut(await database.changelogLocks(askedFor(around)), around) ?? {}
    if (!row?.locked) return {}
    const holding = judgeHolder(await situationOf(database, row, around))
    if (holding.holder === 'dead' || (holding.holder === 'unproven' && around.answers)) return {}
    const who =
      holding.holder === 'live'
        ? `the service may be migrating: ${holding.who}`
        : `the change-log lock at ${database.target} is held; cannot tell whether its holder is alive: ` +
          `${holding.why.join('; ')}`
    return {
      risk: {
        name: 'running-migration',
        message: `${who}. Stopping the service during a migration leaves the lock held and the migration unfinished.`,
        proof: ['wait until the service answers: testops-admin doctor -d {deployment} --wait'],
      },
    }
  } catch (error) {
    if (!(error instanceof AdminError)) throw error
    return { note: `cannot tell whether the service is migrating the database at ${database.target}: ${error.message}` }
  }
}
