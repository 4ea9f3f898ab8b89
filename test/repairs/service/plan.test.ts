import { expect, test } from 'vitest'
import { restartTheService, startTheService, stopTheService } from '../../../src/repairs/service.ts'
import {
  ago,
  backend,
  fakeApi,
  fakeDatabase,
  fakeLogs,
  fakeService,
  lockRow,
  lockTable,
  record,
  running,
  stopped,
  unreachable,
} from '../../fakes/index.ts'

type Parts = Parameters<typeof stopTheService.plan>[0]
const repairs = { stop: stopTheService, start: startTheService, restart: restartTheService }
const deployment = {
  name: 'prod',
  platform: 'host',
  vendor: { prefix: 'VENDOR', package: 'VENDOR_PACKAGE' },
  timeZone: 'UTC',
} as const

const granted = new Date(Date.now() - 60_000).toISOString().replace('T', ' ').replace('Z', '171')
const held = lockTable([lockRow({ locked: true, lockGranted: granted, lockedBy: 'testops-1 (10.0.0.7)' })])
const atWork = backend({
  state: 'active',
  query: 'CREATE INDEX i ON t (c)',
  startedAt: ago(61_000),
  transactionStartedAt: ago(60_000),
})
const starting = { api: unreachable('api') }
const migrates: Partial<Parts> = {
  ...starting,
  database: [fakeDatabase({ changelogLocks: [held], backends: [atWork] })],
}

const stole: Partial<Parts> = {
  ...starting,
  service: fakeService({ status: stopped({ state: 'failed' }) }),
  logs: fakeLogs({
    recent: {
      complete: true,
      records: [
        record('liquibase.lockservice : Waiting for changelog lock....'),
        record('liquibase.lockservice : Successfully released change log lock'),
        record(
          'LockException: Could not acquire change log lock.  Currently locked by testops-7d9f8c5b6-q8zkn ' +
            '(192.0.2.2) since 11/21/26, 2:12 AM',
        ),
      ],
    },
  }),
}

function sources(of: Partial<Parts> = {}): Parts {
  return {
    service: fakeService({ status: running() }),
    database: [fakeDatabase()],
    logs: fakeLogs(),
    api: fakeApi(),
    ...of,
  }
}

const off = { service: fakeService({ status: stopped() }) }
const failing = { service: fakeService({ status: stopped({ state: 'failed', startsAgain: true }) }) }

test.each([
  { what: 'stop', of: {}, steps: ['stop-service'], impact: { serviceStops: 1 }, verifiedBy: [] },
  { what: 'stop', of: failing, steps: ['stop-service'], impact: { serviceStops: 1 }, verifiedBy: [] },
  { what: 'stop', of: off, steps: [], impact: {}, verifiedBy: [] },
  { what: 'start', of: {}, steps: [], impact: {}, verifiedBy: [] },
  {
    what: 'start',
    of: off,
    steps: ['start-service'],
    impact: { serviceStarts: 1 },
    verifiedBy: ['service/running', 'api/reachable'],
  },
  {
    what: 'restart',
    of: {},
    steps: ['stop-service', 'start-service'],
    impact: { serviceRestarts: 1 },
    verifiedBy: ['service/running', 'api/reachable'],
  },
  {
    what: 'restart',
    of: failing,
    steps: ['stop-service', 'start-service'],
    impact: { serviceRestarts: 1 },
    verifiedBy: ['service/running', 'api/reachable'],
  },
  {
    what: 'restart',
    of: off,
    steps: ['start-service'],
    impact: { serviceStarts: 1 },
    verifiedBy: ['service/running', 'api/reachable'],
  },
] as const)('$what: $steps', async ({ what, of, steps, ...rest }) => {
  const plan = await repairs[what].plan(sources(of), deployment, {})
  expect({ ...plan, steps: plan.steps.map(({ action }) => action.kind) }).toMatchObject({ steps, risks: [], ...rest })
})

test.each([
  { what: 'start', of: stopped(), risks: [] },
  { what: 'stop', of: running(), risks: ['controller'] },
  { what: 'restart', of: running(), risks: ['controller'] },
] as const)('$what, with something at work that starts the service: $risks', async ({ what, of, risks }) => {
  const service = fakeService({ status: of, controllers: [{ name: 'KEDA', paused: false, pause: [] }] })
  expect((await repairs[what].plan(sources({ service }), deployment, {})).risks.map(({ name }) => name)).toEqual(risks)
})

test.each(['stop', 'restart'] as const)('%s of a service that migrates is a risk', async (what) => {
  const { risks } = await repairs[what].plan(sources(migrates), deployment, {})
  expect(risks).toMatchObject([
    {
      name: 'running-migration',
      message: expect.stringMatching(
        new RegExp(
          '^the service may be migrating: ' +
            String.raw`.*Stopping the service during a migration leaves the lock held and the migration unfinished\.$`,
        ),
      ) as string,
    },
  ])
})

test.each([
  ['start', ['running-migration']],
  ['restart', ['running-migration']],
  ['stop', []],
] as const)('%s of a service whose last start released the lock of another: %j', async (what, names) => {
  const { risks } = await repairs[what].plan(sources(stole), deployment, {})
  expect(risks.map(({ name }) => name)).toEqual(names)
  for (const { message, proof } of risks)
    expect([message, proof[0]]).toEqual([
      'when the service last started, it released the change-log lock held by testops-7d9f8c5b6-q8zkn ' +
        '(192.0.2.2). If that holder is still migrating, starting the service now runs a second migration ' +
        'at the same time',
      'ps -C java -o pid,lstart,args   # on testops-7d9f8c5b6-q8zkn',
    ])
})

test.each<{ what: string; of: Partial<Parts>; risks: number; notes: RegExp }>([
  {
    what: 'a lock that nobody is shown to hold, while it starts',
    of: { ...starting, database: [fakeDatabase({ changelogLocks: [held], backends: unreachable('database') })] },
    risks: 1,
    notes: /./,
  },
  {
    what: 'the same, once it answers',
    of: { database: [fakeDatabase({ changelogLocks: [held], backends: unreachable('database') })] },
    risks: 0,
    notes: /./,
  },
  { what: 'a stopped service', of: { ...migrates, ...off }, risks: 0, notes: /./ },
  {
    what: 'a database out of reach, while it starts',
    of: { ...starting, database: unreachable('database') },
    risks: 0,
    notes: /cannot tell whether the service is migrating, because its database cannot be queried: /,
  },
  {
    what: 'tables that cannot be read',
    of: { ...starting, database: [fakeDatabase({ changelogLocks: unreachable('database') })] },
    risks: 0,
    notes: /cannot tell whether the service is migrating the database at db\.example\.org:5432\/testops: /,
  },
])('$what', async ({ of, risks, notes }) => {
  const plan = await repairs.restart.plan(sources(of), deployment, {})
  expect(plan.risks).toHaveLength(risks)
  expect(['.', ...plan.notes].join('\n')).toMatch(notes)
})
