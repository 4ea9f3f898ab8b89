import { expect, test } from 'vitest'
import { AdminError } from '../../../src/core/error.ts'
import type { Controller, ServiceStatus } from '../../../src/core/sources.ts'
import { controllerRisks, settingNotes } from '../../../src/repairs/service-steps.ts'
import { restartTheService, startTheService, stopTheService } from '../../../src/repairs/service.ts'
import { unlockChangelog } from '../../../src/repairs/unlock-changelog.ts'
import {
  fakeApi,
  fakeDatabase,
  fakeLogs,
  fakeService,
  lockRow,
  lockTable,
  running,
  stopped,
} from '../../fakes/index.ts'

const deployment = {
  name: 'prod',
  platform: 'kubernetes',
  vendor: { prefix: 'VENDOR', package: 'VENDOR_PACKAGE' },
  timeZone: 'UTC',
} as const
const controller = (name: string, paused: boolean | null): Controller => ({ name, paused, pause: [`pause ${name}`] })
const all = [controller('Argo CD', false), controller('KEDA', true), controller('the operator', null)]

const risk = {
  name: 'controller',
  message:
    'Argo CD and the operator may start the service while it should stay stopped, or revert the changes of this repair',
  proof: ['pause Argo CD', 'pause the operator'],
}

test.each([
  { found: all, risks: [risk] },
  { found: [controller('KEDA', true)], risks: [] },
  { found: [], risks: [] },
])('controllers at work are a risk: $risks.length', async ({ found, risks }) => {
  expect(await controllerRisks(fakeService({ controllers: found }))).toEqual(risks)
})

test.each([
  { repair: stopTheService, status: running(), risks: [risk] },
  { repair: stopTheService, status: stopped(), risks: [] },
  { repair: restartTheService, status: running(), risks: [risk] },
  { repair: startTheService, status: stopped(), risks: [] },
])('$repair.id of a service that is $status.state', async ({ repair, status, risks }) => {
  const sources = {
    service: fakeService({ status, controllers: all }),
    database: [fakeDatabase()] as const,
    logs: fakeLogs(),
    api: fakeApi(),
  }
  expect((await repair.plan(sources, deployment, {})).risks).toEqual(risks)
})

test.each([
  { restart: true, risks: ['controller'] },
  { restart: false, risks: [] },
])('unlock-changelog, restart $restart', async ({ restart, risks }) => {
  const held = lockTable([lockRow({ locked: true, lockGranted: '2020-01-01 00:00:00', lockedBy: 'gone-1 (10.0.0.7)' })])
  const sources = {
    service: fakeService({ status: running(), controllers: all }),
    database: [fakeDatabase({ changelogLocks: [held] })] as const,
    logs: fakeLogs(),
    api: fakeApi(),
  }
  const plan = await unlockChangelog.plan(sources, deployment, { restart, schema: null })
  expect(plan.risks.map(({ name }) => name).filter((it) => it === 'controller')).toEqual(risks)
})

test(
  'each repair that stops or starts the service refuses where another controller owns instances of it, and names ' +
    'that',
  async () => {
    const ownedByOthers = [
      { name: 'Rollout `testops`', instances: ['testops-6c9d7b5f4-x2k4p'], proof: ['look at the Rollout'] },
    ]
    const held = lockTable([
      lockRow({ locked: true, lockGranted: '2020-01-01 00:00:00', lockedBy: 'gone-1 (10.0.0.7)' }),
    ])
    const refused = {
      code: 'REFUSED',
      message:
        'Rollout `testops` owns 1 instance of the service (testops-6c9d7b5f4-x2k4p). testops-admin cannot stop ' +
        'these instances, and starts no others while they run',
      suggestions: expect.arrayContaining(['look at the Rollout']) as unknown,
    }
    for (const status of [running({ ownedByOthers }), stopped({ state: 'failed', ownedByOthers })]) {
      const sources = {
        service: fakeService({ status }),
        database: [fakeDatabase({ changelogLocks: [held] })] as const,
        logs: fakeLogs(),
        api: fakeApi(),
      }
      for (const repair of [stopTheService, startTheService, restartTheService])
        await expect(repair.plan(sources, deployment, {})).rejects.toMatchObject(refused)
      await expect(unlockChangelog.plan(sources, deployment, { restart: true, schema: null })).rejects.toMatchObject(
        refused,
      )
    }
  },
)

test('where a setting is written in a pod template alone, the values file is named', () => {
  const change = { name: 'VENDOR_RABBIT_DURABLE', to: 'true' }
  expect(settingNotes(deployment, change)).toEqual([
    'VENDOR_RABBIT_DURABLE is set in the pod template only. The next helm upgrade silently reverts it, unless ' +
      'the values file sets it too: env.open: {VENDOR_RABBIT_DURABLE: "true"}',
  ])
  expect(settingNotes({ ...deployment, platform: 'host' }, change)).toEqual([])
})

test.each([
  { repair: restartTheService, status: running(), told: 1 },
  { repair: startTheService, status: stopped(), told: 1 },
  { repair: stopTheService, status: running(), told: 0 },
])('$repair.id tells before anything is stopped that nobody may ask the service', async ({ repair, status, told }) => {
  const api = new AdminError('FORBIDDEN', 'user tester may not get secrets', [], { obstacle: { kind: 'settings' } })
  const sources = { service: fakeService({ status }), database: [fakeDatabase()] as const, logs: fakeLogs(), api }
  const { notes } = await repair.plan(sources, deployment, {})
  expect(
    notes.filter(
      (it) =>
        it ===
        'cannot check that the service answers: user tester may not get secrets. The service counts as started ' +
          'when the platform reports it ready',
    ),
  ).toHaveLength(told)
})

test('a rollout that is stuck is a risk of stopping the service, and none of starting it', async () => {
  const startObstacles = [{ kind: 'unready', message: 'old pods serve', proof: ['look'] }] as const
  const plan = async (repair: typeof stopTheService, status: ServiceStatus): Promise<string[]> => {
    const sources = {
      service: fakeService({ status, startObstacles }),
      database: [fakeDatabase()] as const,
      logs: fakeLogs(),
      api: fakeApi(),
    }
    return (await repair.plan(sources, deployment, {})).risks.map(({ name }) => name)
  }
  expect([
    await plan(restartTheService, running()),
    await plan(stopTheService, running()),
    await plan(startTheService, stopped()),
  ]).toEqual([['stuck-rollout'], ['stuck-rollout'], []])
  const held = lockTable([lockRow({ locked: true, lockGranted: '2020-01-01 00:00:00', lockedBy: 'gone-1 (10.0.0.7)' })])
  const unlock = async (kind: 'unready' | 'lasting'): Promise<string[]> => {
    const sources = {
      service: fakeService({ startObstacles: [{ ...startObstacles[0], kind }] }),
      database: [fakeDatabase({ changelogLocks: [held] })] as const,
      logs: fakeLogs(),
      api: fakeApi(),
    }
    return (await unlockChangelog.plan(sources, deployment, { restart: true, schema: null })).risks
      .map(({ name }) => name)
      .filter((it) => it === 'stuck-rollout')
  }
  // pods that wait for the very lock refuse nothing
  expect([await unlock('unready'), await unlock('lasting')]).toEqual([[], ['stuck-rollout']])
})
