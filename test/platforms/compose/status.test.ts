import { expect, test } from 'vitest'
import { containerChanges, statusOf } from '../../../src/platforms/compose/status.ts'
import { recordedContainer } from './world.ts'
import type { Shown } from './world.ts'

type Change = (shown: Shown) => void
const ended =
  (code: number, policy = ''): Change =>
  (shown) => {
    shown.State = { ...shown.State, Status: 'exited', ExitCode: code }
    shown.HostConfig.RestartPolicy.Name = policy
  }

test.each<[Parameters<typeof recordedContainer>[0], Change | undefined, object]>([
  [
    'testops',
    undefined,
    { state: 'running', detail: 'container testops: running, healthy, since 2026-11-22 05:37:09Z' },
  ],
  [
    'paused',
    undefined,
    { state: 'running', detail: 'container testops: paused, unhealthy (ok), since 2026-11-22 05:37:09Z' },
  ],
  [
    'stopped',
    undefined,
    { state: 'stopped', detail: 'container testops: exited, exit code 143, at 2026-11-22 05:39:50Z' },
  ],
  [
    'restarting',
    undefined,
    {
      state: 'failed',
      detail: 'container crash: restarting, exit code 127, at 2026-11-22 05:39:47Z, restarted 5 times',
      startsAgain: true,
    },
  ],
  [
    'out-of-memory',
    undefined,
    {
      state: 'failed',
      detail: 'container oom: exited, exit code 137, at 2026-11-22 05:39:48Z, killed, out of memory',
    },
  ],
  ['exited', undefined, { state: 'failed', detail: 'container ex: exited, exit code 1, at 2026-11-22 05:39:51Z' }],
  ['exited', ended(137), { state: 'stopped', detail: 'container ex: exited, exit code 137, at 2026-11-22 05:39:51Z' }],
  [
    'exited',
    ended(1, 'unless-stopped'),
    { state: 'stopped', detail: 'container ex: exited, exit code 1, at 2026-11-22 05:39:51Z' },
  ],
  [
    'exited',
    (it) => (it.State['Error'] = 'no space left'),
    { state: 'failed', detail: 'container ex: exited, exit code 1, at 2026-11-22 05:39:51Z, no space left' },
  ],
])('%s %s', async (name, change, wanted) => {
  const { instances, ...status } = statusOf([await recordedContainer(name, change)], true)
  expect(status).toEqual(wanted)
  expect(instances.length).toBe(status.state === 'running' ? 1 : 0)
})

test('the last word of a check that fails stands in the detail', async () => {
  const container = await recordedContainer('testops', ({ State }) => {
    State['Health'] = {
      Status: 'unhealthy',
      Log: [{ Output: 'one' }, { Output: 'wget: server returned error\nHTTP/1.1 503\n' }],
    }
  })
  expect(statusOf([container], true).detail).toBe(
    'container testops: running, unhealthy (HTTP/1.1 503), since 2026-11-22 05:37:09Z',
  )
})

test(
  'an instance has the host name that its program sees, ' + 'and a process only where that is of this machine',
  async () => {
    const container = await recordedContainer('testops')
    const instance = { name: 'testops', host: '0b8a1b5e150e', startedAt: new Date('2026-11-22T05:37:09.824Z') }
    expect(statusOf([container], true).instances).toEqual([{ ...instance, pid: 22942 }])
    expect(statusOf([container], false).instances).toEqual([{ ...instance, pid: null }])
  },
)

test('of several containers, one that runs is the service that runs; none is a service that is stopped', async () => {
  const several = statusOf([await recordedContainer('exited'), await recordedContainer('testops')], true)
  expect([several.state, several.instances.length]).toEqual(['running', 1])
  expect(statusOf([], true)).toEqual({ state: 'stopped', detail: 'it has no container', instances: [] })
})

const createdAt =
  (time: string): Change =>
  (shown) =>
    void Object.assign(shown, { Created: time })

test.each<[Parameters<typeof recordedContainer>[0], string, string[]]>([
  [
    'testops',
    '2026-11-22T05:37:09.1Z',
    ['2026-11-22T05:37:09.100Z rollout: was created from image `registry.example.org/qameta/testops:26.2.1`'],
  ],
  [
    'testops',
    '2026-11-20T00:00:00Z',
    [
      '2026-11-20T00:00:00.000Z rollout: was created from image `registry.example.org/qameta/testops:26.2.1`',
      '2026-11-22T05:37:09.824Z restart: was started',
    ],
  ],
  [
    'restarting',
    'no time',
    ['2026-11-22T05:39:47.943Z restart: exited with 127', '2026-11-22T05:39:47.920Z restart: was started'],
  ],
  [
    'out-of-memory',
    '0001-01-01T00:00:00Z',
    [
      '2026-11-22T05:39:48.912Z restart: exited with 137, out of memory',
      '2026-11-22T05:39:48.866Z restart: was started',
    ],
  ],
])('what the engine keeps of the past of %s, created at %s', async (name, created, wanted) => {
  const container = await recordedContainer(name, createdAt(created))
  const found = containerChanges(container, 'docker')
  expect(found.map(({ proof }) => proof)).toEqual(wanted.map(() => `docker inspect ${container.name}`))
  expect(
    found.map(({ kind, at, message }) => `${at.toISOString()} ${kind}: ${message.replace(/^container `\w+` /, '')}`),
  ).toEqual(wanted)
})
