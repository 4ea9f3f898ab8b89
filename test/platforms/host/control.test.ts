import { expect, test } from 'vitest'
import type { ServiceInstance, ServiceStatus } from '../../../src/core/sources.ts'
import { stopService } from '../../../src/platforms/host/control.ts'
import type { ServiceManager } from '../../../src/platforms/host/manager.ts'
import { failureOf } from '../../adapters/failure-of.ts'

const instance = (startedAt: string): ServiceInstance => ({
  name: 'testops',
  host: 'box',
  pid: null,
  startedAt: new Date(startedAt),
})
const former = instance('2026-11-21T03:00:00Z')
const later = instance('2026-11-21T04:00:00Z')
const running = (...instances: ServiceInstance[]): ServiceStatus => ({
  state: 'running',
  detail: 'active (running)',
  instances,
})
const stopped: ServiceStatus = { state: 'stopped', detail: 'inactive (dead)', instances: [] }

/** A service that stands so, one after another each time it is asked, and then stays as it was last. */
function service(...all: ServiceStatus[]): Pick<ServiceManager, 'status' | 'start' | 'stop' | 'commands'> {
  const left = [...all]
  return {
    status: async () => (left.length > 1 ? left.shift()! : left[0]!),
    stop: async () => undefined,
    start: async () => undefined,
    commands: {
      start: 'start',
      stop: 'stop',
      restart: 'restart',
      status: 'status',
      logs: 'logs',
      processes: 'processes',
      settings: 'settings',
      edit: 'edit',
    },
  }
}

const timeoutMs = 600_000

test('a service that takes its time to end is waited for', async () => {
  expect(await stopService(service(running(former), running(former), stopped), { timeoutMs })).toEqual(stopped)
})

test('one that something else starts again at once is not waited for', async () => {
  expect(await failureOf(stopService(service(running(former), running(later)), { timeoutMs }))).toBe(
    'INTERRUPTED something else started the service while testops-admin was keeping it stopped: active (running)',
  )
})
