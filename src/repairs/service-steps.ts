import { refuseOwnedByOthers } from '../core/by-others.ts'
import type { Wanted } from '../core/check.ts'
import type { Deployment } from '../core/deployment.ts'
import { AdminError, isForbidden } from '../core/error.ts'
import type { Risk, Step } from '../core/plan.ts'
import type { ApiSource, ServiceSource, ServiceStatus, StartObstacle } from '../core/sources.ts'
import { valuesKey } from '../knowledge/chart.ts'
import { traitsOf } from '../knowledge/platforms.ts'

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
