import type { InstanceEnd, InstanceHealth, ServiceHealth } from '../../core/sources.ts'
import type { Container } from './containers.ts'
import { endedByStop, runs } from './status.ts'

/** The health of the service's containers. */
export function healthOf(containers: readonly Container[], program: string): ServiceHealth {
  const watched = containers.filter(({ state }) => state.health !== null)
  const unhealthy = watched.filter((it) => runs(it) && it.state.health === 'unhealthy')
  return {
    wanted: watched.length === 0 ? null : watched.length,
    instances: containers.map(instanceOf),
    said: unhealthy.flatMap(({ name, state }) => [
      `${program} inspect -f '{{json .State.Health}}' ${name}`,
      ...(state.healthOutput ?? '').split('\n').filter(Boolean).slice(-3),
    ]),
  }
}

function instanceOf(it: Container): InstanceHealth {
  const { health, startedAt } = it.state
  return {
    name: it.name,
    isUp: runs(it),
    isReady: health === null ? null : runs(it) && health === 'healthy',
    startedAt: runs(it) ? startedAt : null,
    waits: it.state.error === '' ? null : it.state.error,
    ended: endOf(it),
    restarts: it.restarts,
  }
}

/**
 * One that runs again keeps the end of its run before, but not how that came about; `docker restart` is not counted.
 */
function endOf(it: Container): InstanceEnd | null {
  const { status, exitCode, outOfMemory, startedAt, finishedAt } = it.state
  if (runs(it))
    return it.restarts === 0
      ? null
      : { reason: outOfMemory ? 'OOMKilled' : '', exitCode: null, startedAt: null, at: finishedAt }
  if (status === 'created' || (!outOfMemory && status === 'exited' && endedByStop.includes(exitCode))) return null
  return { reason: outOfMemory ? 'OOMKilled' : status === 'dead' ? 'dead' : '', exitCode, startedAt, at: finishedAt }
}
