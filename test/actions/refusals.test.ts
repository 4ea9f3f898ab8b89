import { describe, expect, test } from 'vitest'
import { handlerOf } from '../../src/actions/index.ts'
import type { Action } from '../../src/core/action.ts'
import { AdminError } from '../../src/core/error.ts'
import { failureOf } from '../adapters/failure-of.ts'
import { free, stuck } from '../engine/repairing.ts'
import {
  backend,
  brokerWorld,
  fakeDatabase,
  fakeApi,
  fakeDeployment,
  lockTable,
  openFakes,
  stopped,
  fakeService,
} from '../fakes/index.ts'
import type { FakeDeployment } from '../fakes/index.ts'
import { workshopOf } from './workshop.ts'

const of = { database: 'db.example.org:5432/testops', schema: 'public' }
const row = { locked: true, lockGranted: stuck.lockGranted, lockedBy: stuck.lockedBy }
const release: Action = { kind: 'release-lock', ...of, row, accepts: null }
const insert: Action = { kind: 'insert-lock-row', ...of }

const performed = async (action: Action, deployment: FakeDeployment): Promise<string | null> =>
  failureOf(handlerOf(action).perform(action, workshopOf(deployment)))
const undone = async (action: Action, deployment: FakeDeployment): Promise<string | null> =>
  failureOf(
    handlerOf(action).undo!(
      action,
      workshopOf(deployment, {
        journal: {
          performed: true,
          notes: [],
          ofRun: () => [],
          isRepeated: false,
          note: async () => undefined,
          keep: async () => true,
          kept: async () => null,
        },
      }),
    ),
  )

describe('what is not as the plan saw it is left alone', () => {
  test.each<[what: string, action: Action, deployment: FakeDeployment, said: RegExp]>([
    [
      'a lock that another holds now',
      release,
      fakeDeployment({ service: 'stopped', rows: [{ ...stuck, lockedBy: 'testops-2' }] }),
      new RegExp(
        String.raw`^REFUSED the lock in public\.databasechangeloglock at .* has changed since the plan was made: ` +
          'it was .* and is now .*testops-2',
      ),
    ],
    [
      'a lock that was taken again',
      release,
      fakeDeployment({ service: 'stopped', rows: [{ ...stuck, lockGranted: '2026-11-21 01:00:00.000000' }] }),
      /^REFUSED .* has changed since the plan was made/,
    ],
    [
      'a lock whose row is gone',
      release,
      fakeDeployment({ service: 'stopped', rows: [] }),
      /^REFUSED .* is now missing$/,
    ],
    [
      'a row that has come since',
      insert,
      fakeDeployment({ rows: [stuck] }),
      /^REFUSED public\.databasechangeloglock at .* got a new row with id 1 after the plan was made$/,
    ],
    [
      'a database that the deployment has no longer',
      { ...insert, database: 'old.example.org:5432/testops' },
      fakeDeployment(),
      /^REFUSED old\.example\.org:5432\/testops is no longer one of the deployment's databases$/,
    ],
    [
      'a lock in such a database',
      { ...release, database: 'old.example.org:5432/testops' },
      fakeDeployment(),
      /^REFUSED old\.example\.org/,
    ],
  ])('%s', async (_, action, deployment, said) => {
    const before = [...deployment.rows]
    expect(await performed(action, deployment)).toMatch(said)
    expect(deployment.rows).toEqual(before)
  })

  test('a lock is put back only while the service is stopped', async () => {
    const deployment = fakeDeployment({ rows: [free] })
    expect(await undone(release, deployment)).toBe(
      'REFUSED cannot restore the change-log lock while the service runs, because the service may be using the lock',
    )
    expect(deployment.rows).toEqual([free])
  })

  test('a lock that another holds now is not put back', async () => {
    const deployment = fakeDeployment({ service: 'stopped', rows: [{ ...stuck, lockedBy: 'testops-2' }] })
    expect(await undone(release, deployment)).toBeNull()
    expect(deployment.changes).toEqual([])
  })

  test('a row that is in use now is not taken away', async () => {
    const deployment = fakeDeployment({ rows: [stuck, { ...free, id: 2 }] })
    await undone(insert, deployment)
    expect(deployment.rows).toEqual([stuck, { ...free, id: 2 }])
  })
})

describe('a holder that lives', () => {
  const holder = backend({
    state: 'active',
    query: 'UPDATE testresult SET hidden = true',
    startedAt: new Date('2026-11-20T22:59:00Z'),
    transactionStartedAt: new Date('2026-11-20T22:59:30Z'),
  })
  const held = (deployment: FakeDeployment): ReturnType<typeof workshopOf> =>
    workshopOf(deployment, {
      patienceMs: 200,
      open: openFakes({
        service: fakeService({ status: stopped() }),
        database: [
          fakeDatabase({
            changelogLocks: [lockTable([stuck])],
            backends: [holder],
            identity: {
              version: '15.8',
              user: 'testops',
              database: 'testops',
              startedAt: new Date('2026-11-01T00:00:00Z'),
              inRecovery: false,
              port: 5432,
              pooled: false,
            },
          }),
        ],
      }),
    })

  test('is waited for, and then refused', async () => {
    const deployment = fakeDeployment({ service: 'stopped', rows: [stuck] })
    expect(await failureOf(handlerOf(release).perform(release, held(deployment)))).toMatch(
      /^REFUSED the holder of the lock is alive: /,
    )
    expect(deployment.changes).toEqual([])
  })

  test('is passed over where that was accepted', async () => {
    const deployment = fakeDeployment({ service: 'stopped', rows: [stuck] })
    const accepted: Action = { ...release, accepts: 'live-holder' }
    await handlerOf(accepted).perform(accepted, held(deployment))
    expect(deployment.rows).toEqual([free])
  })

  test('is waited for until Ctrl-C', async () => {
    const controller = new AbortController()
    controller.abort()
    const deployment = fakeDeployment({ service: 'stopped', rows: [stuck] })
    expect(
      await failureOf(handlerOf(release).perform(release, { ...held(deployment), signal: controller.signal })),
    ).toMatch(/^INTERRUPTED/)
  })
})

describe('a service is up once it answers', () => {
  const start: Action = { kind: 'start-service' }
  const silent = (deployment: FakeDeployment): ReturnType<typeof openFakes> =>
    openFakes({
      ...deployment.sources,
      api: fakeApi({ health: new AdminError('UNREACHABLE', 'refused the connection') }),
    })

  test('one that runs and does not answer may come still', async () => {
    const deployment = fakeDeployment({ service: 'stopped' })
    const workshop = workshopOf(deployment, { open: silent(deployment), patienceMs: 100 })
    expect(await handlerOf(start).isDone(start, workshop)).toBe(false)
    expect(await failureOf(handlerOf(start).perform(start, workshop))).toBe(
      'TIMED_OUT the service is running, but has not answered after 0 s: it may still be migrating',
    )
  })

  test(
    'Ctrl-C while it declares its queues leaves the step to do, ' + "and others' bindings come with the next try",
    async () => {
      const binding = {
        source: 'audit',
        destination: 'upload',
        destinationKind: 'queue',
        routingKey: '#',
        arguments: {},
      } as const
      const binds: Action = { ...start, binds: [binding] }
      const deployment = fakeDeployment({
        broker: brokerWorld({ exchanges: [{ name: 'audit', type: 'topic', durable: true }] }),
      })
      const controller = new AbortController()
      const workshop = workshopOf(deployment, { open: openFakes({ ...deployment.sources, api: fakeApi() }) })
      // once it has been started
      const interrupted = { ...workshop, signal: controller.signal, failpoint: async () => controller.abort() }
      expect(await failureOf(handlerOf(binds).perform(binds, interrupted))).toBe(
        'INTERRUPTED interrupted while waiting for the service to declare its queues',
      )
      expect(await handlerOf(binds).isDone(binds, workshop)).toBe(false)
      await deployment.broker.control.declareQueues([
        { name: 'upload', durable: true, autoDelete: false, arguments: {} },
      ])
      await handlerOf(binds).perform(binds, workshop)
      expect(deployment.broker.snapshot().bindings).toEqual(['audit upload'])
      expect(await handlerOf(binds).isDone(binds, workshop)).toBe(true)
    },
  )

  test('one that ends is not waited for', async () => {
    const deployment = fakeDeployment({ service: 'stopped' })
    const failpoint = async (): Promise<void> => void (deployment.service = 'stopped')
    const workshop = workshopOf(deployment, { open: silent(deployment), failpoint })
    expect(await failureOf(handlerOf(start).perform(start, workshop))).toBe(
      'FAILED the service started but did not stay up: inactive (dead)',
    )
  })

  test('one without an API that is known is up once it runs', async () => {
    const deployment = fakeDeployment({ service: 'stopped' })
    const open = openFakes({ ...deployment.sources, api: new AdminError('NOT_CONFIGURED', 'no url is configured') })
    await handlerOf(start).perform(start, workshopOf(deployment, { open }))
    expect(deployment.service).toBe('running')
  })

  test.each([
    { kind: 'settings', code: 'FORBIDDEN', waits: false },
    { kind: 'right', code: 'FORBIDDEN', waits: false },
    { kind: 'settings', code: 'UNREACHABLE', waits: true },
    { kind: 'instances', code: 'UNAVAILABLE', waits: true },
  ] as const)('one whose API cannot be opened ($code, $kind): waited for: $waits', async ({ kind, code, waits }) => {
    const deployment = fakeDeployment({ service: 'stopped' })
    const open = openFakes({
      ...deployment.sources,
      api: new AdminError(code, 'it cannot be had', [], { obstacle: { kind } }),
    })
    const done = handlerOf(start).perform(start, workshopOf(deployment, { open, patienceMs: 100 }))
    expect((await failureOf(done).catch(() => null))?.slice(0, 9) ?? null).toBe(waits ? 'TIMED_OUT' : null)
    expect(deployment.service).toBe('running')
  })

  test('one that did not run before is not started by taking the stop back', async () => {
    const deployment = fakeDeployment({ service: 'stopped' })
    const stop: Action = { kind: 'stop-service', wasRunning: false }
    await handlerOf(stop).undo!(stop, workshopOf(deployment))
    expect([deployment.service, deployment.changes]).toEqual(['stopped', []])
  })
})
