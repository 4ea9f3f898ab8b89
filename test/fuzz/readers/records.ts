import type { ActionKind } from '../../../src/core/action.ts'
import type { Plan, Step } from '../../../src/core/plan.ts'
import type { RunEvent } from '../../../src/core/run.ts'
import { stepsOf } from '../../../src/repairs/reset-queues/steps.ts'
import { eventOf, planOf, recordOf } from '../../engine/repairing.ts'
import { exchange, queue } from '../../fakes/index.ts'

const step = (action: Step['action'], of: Partial<Step> = {}): Step => ({
  title: 'a step',
  action,
  interrupts: false,
  ...of,
})
const stop = step({ kind: 'stop-service', wasRunning: true }, { interrupts: true })
const start = step({ kind: 'start-service' })
const transient = { durable: false, autoDelete: false, arguments: { 'x-max-priority': 5 } }
const events = exchange({ name: 'events', durable: false })
const setting = { name: 'VENDOR_RABBIT_DURABLE', from: 'false', to: 'true' }

const resetSteps = stepsOf({
  queues: [
    { queue: queue({ name: 'upload', messages: 4, ...transient }), proof: 'told by the log', isDeclared: false },
  ],
  exchanges: [events],
  deadLettered: new Map(),
  vanishing: [],
  version: '3.13.7',
  user: 'testops',
  saved: {
    queues: [{ name: 'upload', ...transient }],
    exchanges: [
      {
        name: 'events',
        type: events.type,
        durable: false,
        autoDelete: events.autoDelete,
        internal: events.internal,
        arguments: events.arguments,
      },
    ],
    bindings: [
      { source: 'events', destination: 'upload', destinationKind: 'queue', routingKey: 'upload', arguments: {} },
    ],
    policies: [],
  },
  setting,
  drainSeconds: 5,
  discards: false,
  messages: 4,
  keepsUserIds: false,
  exclusive: [],
  stop,
  start,
})

/** A plan of each repair, with options that are its own. */
export const plans: readonly Plan[] = [
  planOf(),
  planOf({
    repair: 'reset-queues',
    options: { drainSeconds: 5, discard: false, queues: ['upload'] },
    steps: resetSteps,
    verifiedBy: ['broker/queues-durable', 'service/running', 'api/reachable'],
  }),
  planOf({
    repair: 'set-env',
    options: {
      settings: [
        { name: 'VENDOR_X', to: '1' },
        { known: 'rabbitDurable', to: 'true' },
      ],
      restart: true,
      salt: 'ab',
    },
    steps: [stop, step({ kind: 'set-setting', ...setting }), start],
  }),
  planOf({
    repair: 'flush-sessions',
    options: { all: false, stale: true, user: null },
    steps: [
      step({
        kind: 'remove-sessions',
        store: 'redis:6379/0',
        namespace: 'spring:session',
        which: 'stale',
        flush: false,
        counts: { sessions: 3, asOf: 1_700_000_000_000 },
      }),
    ],
  }),
  planOf({
    repair: 'migrate-trees',
    options: { items: [{ project: 1, tree: null }], allProjects: false, allTrees: false, concurrency: 2, wait: true },
    steps: [
      step({ kind: 'migrate-trees', api: 'http://api', items: [{ project: 1, tree: 2 }], concurrency: 2 }),
      step({ kind: 'await-migration', counts: { newestJob: 3 } }),
    ],
  }),
  planOf({
    repair: 'use-legacy-image',
    options: { values: ['/srv/values.yaml'], path: [], build: null, revert: false },
    steps: [
      step({
        kind: 'edit-values',
        file: '/srv/values.yaml',
        edits: [
          {
            path: ['image', 'name'],
            from: 'testops',
            to: 'testops-legacy',
            at: 14,
            was: 'testops',
            is: 'testops-legacy',
          },
        ],
      }),
    ],
  }),
  planOf({
    repair: 'set-env-values',
    options: {
      settings: [{ name: 'VENDOR_X', to: '1' }],
      values: ['/srv/values.yaml'],
      path: [],
      main: '/srv/values.yaml',
    },
    steps: [
      step({
        kind: 'upgrade-release',
        release: 'testops',
        revision: 3,
        chart: 'repo/chart',
        chartVersion: '1.2.3',
        files: ['/srv/values.yaml'],
        values: [{ path: ['env', 'open', 'A'], to: '1' }],
        wasRunning: true,
      }),
      step({ kind: 'await-rollout' }),
    ],
  }),
  planOf({ repair: 'service-restart', options: {}, steps: [stop, start] }),
  planOf({ repair: 'service-stop', options: {}, steps: [stop] }),
  planOf({ repair: 'service-start', options: {}, steps: [start] }),
]

const notes: { readonly [K in ActionKind]?: readonly string[] } = {
  'stop-service': ['replicas deployments/testops/testops 3'],
  'release-lock': ['7042'],
  'set-setting': ['environment-file {"path":"/etc/testops.env","at":12,"was":"fals","is":"tru"}'],
  'move-messages': [
    '{"event":"begun","direction":"aside","attempt":"0","queues":{"upload":{"ready":4,"held":0}}}',
    '{"event":"moved","direction":"aside","attempt":"0","queues":{"upload":{"contents":{},"othersIds":0}}}',
  ],
  'migrate-trees': [
    '{"event":"answered","accepted":[],"failed":[],"asking":[[0,0]]}',
    '{"event":"answered","accepted":[],"failed":[{"item":0,"status":503,"message":"later","unknown":true}],' +
      '"asking":[[0,0]],"unasked":[[0,0]]}',
    '{"event":"answered","accepted":[0],"failed":[]}',
  ],
  'upgrade-release': ['helm testops 3'],
}
const noted = ({ action: { kind } }: Step, index: number): RunEvent[] =>
  (notes[kind] ?? []).map((note) => eventOf({ event: 'noted', step: index, note }, index))

const error = { code: 'UNREACHABLE', message: 'the database is gone', suggestions: ['pg_isready'] } as const

/** A journal of each, at several stages. */
export const recordSeeds: readonly string[] = plans.flatMap((plan) => {
  const { repair, steps } = plan
  const done = steps.flatMap((it, index): RunEvent[] => [
    eventOf({ event: 'intent', step: index }, index),
    ...noted(it, index),
    eventOf({ event: 'done', step: index, durationMs: 100 }, index + 1),
  ])
  const stages: RunEvent[][] = [
    [],
    [eventOf({ event: 'copied' }), eventOf({ event: 'intent', step: 0 })],
    [...done, eventOf({ event: 'redo', step: 0, since: 1 }, 30)],
    [...done, eventOf({ event: 'ended', outcome: 'done', verification: { 'api/reachable': 'ok' } }, 60)],
    [
      ...done.slice(0, -1),
      eventOf({ event: 'failed', step: steps.length - 1, error }, 9),
      eventOf({ event: 'undo-intent', step: 0 }, 10),
      eventOf({ event: 'undo-failed', step: 0, error }, 11),
      eventOf({ event: 'ended', outcome: 'failed' }, 12),
    ],
  ]
  const record = recordOf({ run: `20261121T021244Z-${repair}-1f3a`, plan })
  return stages.map((all) => [record, ...all].map((it) => JSON.stringify(it)).join('\n'))
})
