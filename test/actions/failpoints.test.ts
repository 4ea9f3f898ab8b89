import { describe, expect, test } from 'vitest'
import { handlerOf } from '../../src/actions/index.ts'
import type { Action, ActionKind } from '../../src/core/action.ts'
import { actionShapes } from '../../src/core/action.ts'
import { fingerprint } from '../../src/core/plan.ts'
import { faultOfPlan } from '../../src/core/run-record.ts'
import { free, planOf, stuck } from '../engine/repairing.ts'
import { brokerWorld, fakeDeployment, fakeSessionStore, fileWorld, releaseWorld } from '../fakes/index.ts'
import type { FakeDeployment } from '../fakes/index.ts'
import { workshopOf } from './workshop.ts'

interface Situation {
  /** fits the type and its shape in `core/action.ts` */
  action: Action
  /** the deployment as the plan saw it */
  before: () => FakeDeployment
  /** what is looked at of it */
  look: (deployment: FakeDeployment) => unknown
  /** after it is taken back; undefined: as before. 'stays': there is nothing to take back */
  undone?: unknown
  /** it looks, or lasts as long as its process, so that it is never done already */
  anew?: true
}

const of = { database: 'db.example.org:5432/testops', schema: 'public' }
const row = { locked: stuck.locked, lockGranted: stuck.lockGranted, lockedBy: stuck.lockedBy }
const rows = (deployment: FakeDeployment): unknown => [...deployment.rows]
const service = (deployment: FakeDeployment): unknown => deployment.service

const transient = { name: 'upload', durable: false, autoDelete: false, arguments: {} }
const durable = { ...transient, durable: true }
const holding = 'testops-admin.held.upload'
const work = { name: 'work', type: 'direct', durable: false, autoDelete: false, internal: false, arguments: {} }
const binding = {
  source: 'work',
  destination: 'upload',
  destinationKind: 'queue',
  routingKey: 'upload',
  arguments: {},
} as const
const counts = { messages: 3 }
const held = { name: holding, durable: true }

function withBroker(of: Parameters<typeof brokerWorld>[0]): FakeDeployment {
  return fakeDeployment({ service: 'stopped', broker: brokerWorld({ exchanges: [work], ...of }) })
}

/** Its queues with what is in them, its exchanges and its bindings. */
function vhost({ broker }: FakeDeployment): unknown {
  return broker.snapshot()
}

/**
 * Each kind of change, in a situation in which there is something to do: a new kind does not compile without its own.
 */
const situations: { readonly [K in ActionKind]: Situation } = {
  'stop-service': { action: { kind: 'stop-service', wasRunning: true }, before: () => fakeDeployment(), look: service },
  'start-service': {
    action: { kind: 'start-service', stopsOnUndo: true },
    before: () => fakeDeployment({ service: 'stopped' }),
    look: service,
  },
  'release-lock': {
    action: { kind: 'release-lock', ...of, row, accepts: null },
    before: () => fakeDeployment({ service: 'stopped', rows: [stuck] }),
    look: rows,
  },
  'insert-lock-row': {
    action: { kind: 'insert-lock-row', ...of },
    before: () => fakeDeployment({ rows: [{ ...free, id: 2 }] }),
    look: rows,
  },
  'remove-lock-rows': {
    action: { kind: 'remove-lock-rows', ...of, rows: [{ ...stuck, id: 2 }] },
    before: () => fakeDeployment({ rows: [free, { ...stuck, id: 2 }] }),
    look: rows,
  },
  'remove-sessions': {
    action: {
      kind: 'remove-sessions',
      store: 'redis.example.org:6379/0',
      namespace: 'spring:session',
      which: 'all',
      flush: false,
      counts: { sessions: 2, asOf: Date.now() + 60_000 },
    },
    before: () => fakeDeployment({ store: fakeSessionStore({ sessions: [{}, {}] }) }),
    look: ({ store }) => store.left(),
    undone: [],
  },
  'edit-values': {
    action: {
      kind: 'edit-values',
      file: '/srv/values.yaml',
      edits: [{ path: ['image', 'imageName'], from: 'testops', to: 'testops-legacy', at: 18, was: '', is: '-legacy' }],
    },
    before: () => fakeDeployment({ files: fileWorld({ '/srv/values.yaml': { 'image.imageName': 'testops' } }) }),
    look: ({ files }) => [...files.files.get('/srv/values.yaml')!],
  },
  'upgrade-release': {
    action: {
      kind: 'upgrade-release',
      release: 'release testops in namespace testops',
      revision: 1,
      chart: '/srv/chart',
      chartVersion: '5.27.2',
      files: ['/srv/values.yaml'],
      values: [{ path: ['version'], to: '527u01' }],
      wasRunning: true,
    },
    before: () =>
      fakeDeployment({
        release: releaseWorld({
          installed: { version: '526u03' },
          files: { '/srv/values.yaml': { version: '527u01' } },
        }),
      }),
    look: ({ release }) => release.revisions.at(-1)!.values,
  },
  'fetch-image': {
    action: { kind: 'fetch-image', image: 'r/testops-legacy:527u01', platform: null },
    before: () => fakeDeployment(),
    look: ({ images }) => [...images],
    undone: ['r/testops-legacy:527u01'],
  },
  'await-rollout': {
    action: { kind: 'await-rollout' },
    before: () => fakeDeployment({ rollsOut: 2 }),
    look: service,
    undone: 'running',
  },
  'set-setting': {
    action: { kind: 'set-setting', name: 'VENDOR_RABBIT_DURABLE', from: null, to: 'true' },
    before: () => fakeDeployment({ service: 'stopped' }),
    look: ({ settings }) => [...settings],
  },
  'set-secret': {
    action: {
      kind: 'set-secret',
      name: 'SPRING_RABBITMQ_PASSWORD',
      salt: 's',
      from: fingerprint('old', 's'),
      to: fingerprint('new', 's'),
      file: '/srv/secret',
    },
    before: () => {
      const deployment = fakeDeployment({ service: 'stopped', files: fileWorld({ '/srv/secret': { '': 'new' } }) })
      deployment.settings.set('SPRING_RABBITMQ_PASSWORD', 'old')
      return deployment
    },
    look: ({ settings }) => [...settings],
  },
  'hold-queues': {
    action: {
      kind: 'hold-queues',
      moves: [{ queue: 'upload', holding }],
      saved: { queues: [transient], exchanges: [work], bindings: [binding], policies: [] },
    },
    before: () => withBroker({ queues: [transient], bindings: [binding] }),
    look: vhost,
  },
  'keep-queues': {
    action: {
      kind: 'keep-queues',
      queues: [{ queue: { ...transient, autoDelete: true }, holding }],
      bindings: [binding],
    },
    before: () => withBroker({ queues: [{ ...transient, autoDelete: true }] }),
    look: service,
    anew: true,
    undone: 'stopped',
  },
  'drain-queues': {
    action: { kind: 'drain-queues', queues: ['upload'], seconds: 0, counts },
    before: () => withBroker({ queues: [{ ...transient, messages: 3, consumers: 1 }] }),
    look: service,
    anew: true,
    undone: 'stopped',
  },
  'await-quiet': {
    action: { kind: 'await-quiet', queues: ['upload'], user: 'testops' },
    before: () => withBroker({ queues: [transient], answers: { connectionsOf: [] } }),
    look: service,
    anew: true,
    undone: 'stopped',
  },
  'move-messages': {
    action: { kind: 'move-messages', direction: 'aside', moves: [{ queue: 'upload', holding }], counts },
    before: () =>
      withBroker({
        queues: [
          { ...transient, messages: 3 },
          { ...held, messages: 0 },
        ],
      }),
    look: vhost,
    anew: true,
  },
  'delete-queues': {
    action: {
      kind: 'delete-queues',
      queues: [{ queue: transient, holding }],
      bindings: [binding],
      discards: false,
      counts,
    },
    before: () => withBroker({ queues: [{ ...transient, messages: 0 }, held], bindings: [binding] }),
    look: vhost,
  },
  'switch-exchanges': {
    action: {
      kind: 'switch-exchanges',
      exchanges: [{ from: work, to: { ...work, durable: true } }],
      bindings: [binding],
    },
    before: () => withBroker({ queues: [transient], bindings: [binding] }),
    look: vhost,
  },
  'redeclare-queues': {
    action: { kind: 'redeclare-queues', queues: [{ queue: durable, holding }], bindings: [binding] },
    before: () => withBroker({ queues: [{ ...held, messages: 3 }] }),
    look: vhost,
    anew: true,
  },
  'migrate-trees': {
    action: {
      kind: 'migrate-trees',
      api: 'https://testops.example.org',
      items: [{ project: 1, tree: 12 }],
      concurrency: 4,
    },
    before: () => fakeDeployment(),
    // a tree may be loaded twice
    look: ({ api }) => [...new Set(api.asked.map(({ project, tree }) => `${project}/${tree}`))],
    undone: ['1/12'],
  },
  'await-migration': {
    action: { kind: 'await-migration', counts: { newestJob: 7 } },
    before: () => fakeDeployment(),
    look: service,
    anew: true,
    undone: 'running',
  },
  'delete-held': {
    action: { kind: 'delete-held', holding: [holding] },
    before: () => withBroker({ queues: [{ ...held, messages: 0 }] }),
    look: vhost,
  },
}

const kinds = Object.keys(actionShapes) as ActionKind[]

describe.each(kinds)('%s', (kind) => {
  const { action, before, look, undone, anew } = situations[kind]
  const handler = handlerOf(action)

  test('is read from a journal as it was written', () => {
    const plan = planOf({ steps: [{ title: kind, action, interrupts: false }] })
    expect(faultOfPlan(JSON.parse(JSON.stringify(plan)))).toBeNull()
    const fault = faultOfPlan({ ...plan, steps: [{ title: kind, action: { ...action, more: 1 }, interrupts: false }] })
    expect(String(fault)).toMatch(/an unknown key: more$/)
  })

  test('tells whether it is done', async () => {
    const deployment = before()
    const workshop = workshopOf(deployment)
    expect(await handler.isDone(action, workshop)).toBe(false)
    await handler.perform(action, workshop)
    expect(await handler.isDone(action, workshop)).toBe(anew !== true)
  })

  test('passes each failpoint that it names, in their order, and no other', async () => {
    const workshop = workshopOf(before())
    await handler.perform(action, workshop)
    expect(workshop.passed).toEqual(handler.failpoints)
  })

  test.each(handler.failpoints)('killed at %s, it is finished by another process, or taken back', async (name) => {
    const whole = before()
    await handler.perform(action, workshopOf(whole))
    const deployment = before()
    await killedAt(name, (failpoint) => handler.perform(action, workshopOf(deployment, { failpoint })))
    const half = JSON.stringify(look(deployment))
    if (!(await handler.isDone(action, workshopOf(deployment)))) await handler.perform(action, workshopOf(deployment))
    expect(look(deployment)).toEqual(look(whole))

    if (!handler.undo) return
    const other = before()
    await killedAt(name, (failpoint) => handler.perform(action, workshopOf(other, { failpoint })))
    expect(JSON.stringify(look(other))).toBe(half)
    await handler.undo(action, workshopOf(other))
    expect(look(other)).toEqual(undone ?? look(before()))
  })

  test('is taken back, twice without harm, and where nothing was done', async () => {
    const deployment = before()
    await handler.perform(action, workshopOf(deployment))
    if (!handler.undo) {
      expect(look(deployment)).toEqual(undone)
      return
    }
    for (let time = 0; time < 2; time += 1) {
      await handler.undo(action, workshopOf(deployment))
      expect(look(deployment)).toEqual(undone ?? look(before()))
    }
    const untouched = before()
    await handler.undo(action, workshopOf(untouched))
    expect(look(untouched)).toEqual(look(before()))
  })

  test('looking changes nothing', async () => {
    const deployment = before()
    await handler.isDone(action, workshopOf(deployment))
    expect(deployment.changes).toEqual([])
  })
})

async function killedAt(
  name: string,
  work: (failpoint: (name: string) => Promise<void>) => Promise<void>,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const failpoint = async (reached: string): Promise<void> => {
      if (reached !== name) return
      resolve()
      await new Promise(() => undefined)
    }
    work(failpoint).then(() => reject(new Error(`${name} was not reached`)), reject)
  })
}
