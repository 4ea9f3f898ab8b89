import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { startedByOthers } from '../../core/by-others.ts'
import { AdminError, codeOf } from '../../core/error.ts'
import type { ServiceInstance, ServiceStatus } from '../../core/sources.ts'
import type { ServiceManager } from './manager.ts'

interface ControlOptions {
  /** Milliseconds for the whole, waiting included */
  timeoutMs: number
  signal?: AbortSignal | undefined
}

const pollMs = 200

/** The methods of the service's manager that starting and stopping need. */
type Started = Pick<ServiceManager, 'status' | 'start' | 'stop'>

/**
 * Starts the service and waits until it runs, which does not mean yet that it answers. Harmless if it runs already.
 * Throws FAILED if it dies, TIMED_OUT, INTERRUPTED, and what the manager throws.
 */
export async function startService(manager: Started, options: ControlOptions): Promise<ServiceStatus> {
  const end = performance.now() + options.timeoutMs
  await manager.start({ timeoutMs: options.timeoutMs })
  const status = await waitForService(manager, ({ state }) => state !== 'stopped', 'running', {
    ...options,
    timeoutMs: end - performance.now(),
  })
  if (status.state === 'running') return status
  throw new AdminError('FAILED', `the service started, but did not keep running: ${status.detail}`, [
    'testops-admin doctor -d {deployment}',
    '{logs}',
  ])
}

/**
 * Stops the service and waits until it and its processes are gone. Harmless if it does not run. Throws as
 * `startService`, and INTERRUPTED if something else starts it again meanwhile.
 */
export async function stopService(manager: Started, options: ControlOptions): Promise<ServiceStatus> {
  const end = performance.now() + options.timeoutMs
  const before = await manager.status()
  await manager.stop({ timeoutMs: options.timeoutMs })
  const pids = before.instances.flatMap(({ pid }) => pid ?? [])
  const former = new Set(before.instances.map(identityOf))
  const isGone = async (status: ServiceStatus): Promise<boolean> => {
    if (status.state === 'running' && status.instances.some((it) => !former.has(identityOf(it))))
      throw startedByOthers(status)
    return status.state !== 'running' && (await Promise.all(pids.map(isAlive))).every((alive) => !alive)
  }
  return waitForService(manager, isGone, 'stopped', { ...options, timeoutMs: end - performance.now() })
}

export async function restartService(manager: Started, options: ControlOptions): Promise<ServiceStatus> {
  const end = performance.now() + options.timeoutMs
  await stopService(manager, options)
  return startService(manager, { ...options, timeoutMs: end - performance.now() })
}

/** Identifies one run of an instance; each start gives another. */
function identityOf({ name, pid, startedAt }: ServiceInstance): string {
  return JSON.stringify([name, pid, startedAt])
}

/** Polls until the state is as wanted. Throws TIMED_OUT with the last state, INTERRUPTED. */
async function waitForService(
  manager: Pick<ServiceManager, 'status'>,
  isWanted: (status: ServiceStatus) => boolean | Promise<boolean>,
  wanted: string,
  { timeoutMs, signal }: ControlOptions,
): Promise<ServiceStatus> {
  const end = performance.now() + timeoutMs
  for (;;) {
    if (signal?.aborted)
      throw new AdminError('INTERRUPTED', `interrupted while waiting for the service to be ${wanted}`)
    const status = await manager.status()
    if (await isWanted(status)) return status
    if (performance.now() >= end) {
      throw new AdminError('TIMED_OUT', `timed out waiting for the service to be ${wanted}: ${status.detail}`, [
        '{status}',
        '{logs}',
      ])
    }
    await sleep(Math.min(pollMs, Math.max(1, end - performance.now())))
  }
}

/** True if a process of that number runs; one that has ended but was not reaped yet does not count. */
async function isAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // another user's process exists all the same
    if (codeOf(error) !== 'EPERM') return false
  }
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return !/\) Z /.test(stat)
}
