import { serviceReady } from '../../../src/checks/service/ready.ts'
import type { InstanceHealth } from '../../../src/core/sources.ts'
import { ago, fakeService, health, instanceHealth, running, unreachable } from '../../fakes/index.ts'
import type { CheckTable, Parts } from '../table.ts'

const pod = (name: string, of: Partial<InstanceHealth> = {}): InstanceHealth =>
  instanceHealth({ name, isReady: true, ...of })
const said = [
  'kubectl describe pod a',
  'Unhealthy (12 times): Readiness probe failed: HTTP probe failed with statuscode: 503',
]
const pods = (...instances: InstanceHealth[]): Parts => ({
  service: fakeService({ health: health({ wanted: instances.length, instances, said }) }),
})

export const serviceReadyTable: CheckTable = {
  check: serviceReady,
  cases: [
    {
      situation: 'nothing asks',
      status: 'skipped',
      says: ['this platform does not check whether the service is ready'],
    },
    { situation: 'all are', sources: pods(pod('a'), pod('b')), status: 'ok', says: ['2 of 2 ready'] },
    { situation: 'it is not to run', sources: pods(), status: 'skipped', says: ['the service is stopped on purpose'] },
    {
      situation: 'one is not',
      sources: pods(pod('a', { isReady: false }), pod('b')),
      status: 'problem',
      severity: 'warning',
      says: [
        '1 instance of the service is not ready: a (started 2 h ago); ready: 1 of 2',
        'a: running, not ready, 0 restarts',
        'Readiness probe failed: HTTP probe failed with statuscode: 503',
      ],
    },
    {
      situation: 'none is',
      sources: pods(pod('a', { isReady: false, startedAt: null })),
      status: 'problem',
      severity: 'error',
      says: ['1 instance of the service is not ready: a; ready: 0 of 1'],
    },
    {
      situation: 'it starts',
      sources: pods(pod('a', { isReady: false, startedAt: ago(60_000) })),
      status: 'ok',
      says: ['0 of 1 ready; a started 1 min'],
    },
    {
      situation: 'it has started for longer than that takes',
      sources: pods(pod('a', { isReady: false, startedAt: ago(320_000) })),
      status: 'problem',
      severity: 'error',
    },
    {
      situation: 'it does not run, which is another matter',
      sources: pods(pod('a', { isUp: false, isReady: false, waits: 'CrashLoopBackOff' })),
      status: 'ok',
    },
    {
      situation: 'a quota keeps one from being there',
      sources: {
        service: fakeService({
          health: health({ wanted: 2, instances: [pod('a')], said: [] }),
          status: running({ detail: '1 of 2 replicas ready; FailedCreate: exceeded quota' }),
        }),
      },
      status: 'problem',
      severity: 'warning',
      says: ['1 of 2 replicas of the service is missing', 'FailedCreate: exceeded quota'],
    },
    {
      situation: 'none is there, which is another matter',
      sources: { service: fakeService({ health: health({ wanted: 2, instances: [], said: [] }) }) },
      status: 'ok',
    },
    {
      situation: 'the platform cannot be asked',
      sources: { service: unreachable('service') },
      status: 'unknown',
      because: 'service/running',
    },
  ],
}
