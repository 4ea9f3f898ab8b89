import { describe, expect, test } from 'vitest'
import { AdminError } from '../../../src/core/error.ts'
import { Secret } from '../../../src/core/secret.ts'
import { setEnv } from '../../../src/repairs/set-env.ts'
import type { SettingWish } from '../../../src/repairs/set-env/change.ts'
import {
  ago,
  backend,
  consumer,
  fakeApi,
  fakeBroker,
  fakeDatabase,
  fakeLogs,
  fakeService,
  lockRow,
  lockTable,
  queue,
  running,
  stopped,
  unreachable,
} from '../../fakes/index.ts'

type Parts = Parameters<typeof setEnv.plan>[0]
const deployment = {
  name: 'prod',
  platform: 'host',
  vendor: { prefix: 'VENDOR', package: 'VENDOR_PACKAGE' },
  timeZone: 'UTC',
} as const

async function plan(
  settings: readonly SettingWish[],
  of: Partial<Parts> = {},
  restart = true,
): ReturnType<typeof setEnv.plan> {
  const sources: Parts = {
    service: fakeService({ status: running() }),
    database: [fakeDatabase()],
    broker: fakeBroker(),
    logs: fakeLogs(),
    api: fakeApi(),
    ...of,
  }
  return setEnv.plan(sources, deployment, { settings, restart, salt: 's' })
}

function on(environment: Readonly<Record<string, string | Secret>>, status = running()): Partial<Parts> {
  return { service: fakeService({ status, environment: new Map(Object.entries(environment)) }) }
}

describe('steps', () => {
  const set = [{ name: 'TZ', to: 'UTC' }]
  test.each([
    {
      what: 'of a service that runs',
      of: on({ TZ: 'x' }),
      restart: true,
      steps: ['stop-service', 'set-setting', 'start-service'],
      impact: { settingsChanged: 1, serviceRestarts: 1 },
      verifiedBy: ['service/running', 'api/reachable'],
    },
    {
      what: 'of one that is started again and again',
      of: on({}, stopped({ state: 'failed', startsAgain: true })),
      restart: true,
      steps: ['stop-service', 'set-setting', 'start-service'],
      impact: { settingsChanged: 1, serviceRestarts: 1 },
      verifiedBy: ['service/running', 'api/reachable'],
    },
    {
      what: 'of one that is stopped',
      of: on({}, stopped()),
      restart: true,
      steps: ['set-setting'],
      impact: { settingsChanged: 1 },
      verifiedBy: [],
    },
    {
      what: 'without a restart',
      of: on({}),
      restart: false,
      steps: ['set-setting'],
      impact: { settingsChanged: 1 },
      verifiedBy: [],
    },
    { what: 'where it is so', of: on({ TZ: 'UTC' }), restart: true, steps: [], impact: {}, verifiedBy: [] },
  ])('$what', async ({ what: _, of, restart, steps, ...rest }) => {
    const made = await plan(set, of, restart)
    expect({ ...made, steps: made.steps.map(({ action }) => action.kind) }).toMatchObject({ steps, risks: [], ...rest })
  })
  test("of a token's life are judged by the token", async () => {
    expect((await plan([{ known: 'tokenValiditySeconds', to: '60' }], on({}))).verifiedBy).toEqual([
      'service/running',
      'api/reachable',
      'api/token-lifetime',
    ])
  })
  test('of a secret bear fingerprints alone, which tell whether it is so', async () => {
    const secret = on({ SPRING_RABBITMQ_PASSWORD: new Secret('geheim') })
    const made = await plan([{ name: 'SPRING_RABBITMQ_PASSWORD', to: null }], secret)
    const { action } = made.steps[1]!
    expect(action).toEqual({
      kind: 'set-secret',
      name: 'SPRING_RABBITMQ_PASSWORD',
      salt: 's',
      from: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
      to: null,
      file: null,
    })
    const same = action.kind === 'set-secret' ? { fingerprint: action.from!, file: null } : undefined
    expect((await plan([{ name: 'SPRING_RABBITMQ_PASSWORD', to: null, secret: same! }], secret)).steps).toEqual([])
    expect(JSON.stringify(made)).not.toContain('geheim')
  })
})

describe('in a cluster', () => {
  const cluster = { ...deployment, platform: 'kubernetes' } as const
  const inCluster = async (
    settings: readonly SettingWish[],
    of: Partial<Parts>,
    restart = true,
  ): ReturnType<typeof setEnv.plan> => {
    const sources: Parts = {
      service: fakeService({ status: running() }),
      database: [fakeDatabase()],
      broker: fakeBroker(),
      logs: fakeLogs(),
      api: fakeApi(),
      ...of,
    }
    return setEnv.plan(sources, cluster, { settings, restart, salt: 's' })
  }
  const refusal = async (
    settings: readonly SettingWish[],
    of: Partial<Parts>,
    restart: boolean,
  ): Promise<[string, readonly string[]]> => {
    const error = await inCluster(settings, of, restart).then(
      () => null,
      (thrown: unknown) => thrown,
    )
    return error instanceof AdminError ? [`${error.code} ${error.message}`, error.suggestions] : ['', []]
  }
  test('the values file comes last, and a note says so', async () => {
    expect((await inCluster([{ name: 'TZ', to: 'UTC' }], on({}))).notes[0]).toBe(
      'TZ is set in the pod template only. The next helm upgrade silently reverts it, unless the values file ' +
        'sets it too: env.open: {TZ: "UTC"}',
    )
    expect((await inCluster([{ name: 'TZ', to: null }], on({ TZ: 'UTC' }))).notes[0]).toBe(
      'TZ is removed from the pod template only. If the values file sets it, the next helm upgrade brings it back',
    )
  })
  test('nothing is changed under a service that runs, since that restarts it', async () => {
    const [message, next] = await refusal([{ name: 'TZ', to: 'UTC' }], on({}), false)
    expect([message, next]).toEqual([
      'USAGE on Kubernetes, a changed setting starts new pods at once, so `--no-restart` works only while the ' +
        'service is stopped',
      [
        'testops-admin set-env NAME=VALUE --values FILE   # writes the setting to a values file of the chart, ' +
          'for the next helm upgrade',
        'testops-admin service stop -d {deployment}',
      ],
    ])
    expect((await inCluster([{ name: 'TZ', to: 'UTC' }], on({}, stopped()), false)).steps).toHaveLength(1)
  })
  test('a secret goes into no pod template', async () => {
    const [message] = await refusal(
      [{ name: 'SPRING_RABBITMQ_PASSWORD', to: null, secret: { fingerprint: 'f', file: '/run/secret' } }],
      on({}),
      true,
    )
    expect(message).toBe(
      'REFUSED SPRING_RABBITMQ_PASSWORD is a secret and does not belong in a pod template. Nothing was changed',
    )
    const [inClear] = await refusal([{ name: 'MQ', to: 'amqp://h' }], on({ MQ: new Secret('amqp://u:geheim@h') }), true)
    expect(inClear).toBe('REFUSED MQ is a secret and does not belong in a pod template. Nothing was changed')
  })
})

describe('the queues that are there', () => {
  const wish: SettingWish[] = [{ known: 'rabbitDurable', to: 'true' }]
  const transient = fakeBroker({ queues: [queue({ durable: false })], consumers: [consumer()] })
  test('are transient where durable ones are asked for: a risk, with the repair that changes both', async () => {
    const { risks } = await plan(wish, { ...on({}), broker: transient })
    expect(risks).toEqual([
      {
        name: 'queues-mismatch',
        message:
          '1 queue of the service is transient: testops.upload. After this change, the service declares its ' +
          'queues as durable and fails if they are transient.',
        proof: [
          'testops-admin reset-queues -d {deployment}   # changes the setting and the queues, and keeps the messages',
          expect.stringMatching(/^rabbitmqctl .*list_queues/) as string,
        ],
      },
    ])
  })
  test.each<{ what: string; wish: SettingWish; broker: Parts['broker']; risks: string[] }>([
    { what: 'durable where durable ones are asked for', wish: wish[0]!, broker: fakeBroker(), risks: [] },
    {
      what: 'durable where transient ones are',
      wish: { name: 'VENDOR_RABBIT_DURABLE', to: 'false' },
      broker: fakeBroker(),
      risks: ['queues-mismatch'],
    },
    {
      what: 'durable where the setting is taken away',
      wish: { name: 'VENDOR_RABBIT_DURABLE', to: null },
      broker: fakeBroker(),
      risks: ['queues-mismatch'],
    },
    {
      what: 'of nobody knows whom',
      wish: wish[0]!,
      broker: fakeBroker({ queues: [queue({ durable: false, name: 'x' })], consumers: [] }),
      risks: ['queues-mismatch'],
    },
    {
      what: 'quorum queues',
      wish: { name: 'VENDOR_RABBIT_DURABLE', to: 'false' },
      broker: fakeBroker({ queues: [queue({ type: 'quorum' })] }),
      risks: [],
    },
    { what: 'of no concern to another setting', wish: { name: 'TZ', to: 'x' }, broker: transient, risks: [] },
  ])('$what', async ({ wish: one, broker, risks }) => {
    const made = await plan([one], { ...on({ VENDOR_RABBIT_DURABLE: one.to === 'true' ? 'no' : 'true' }), broker })
    expect(made.risks.map(({ name }) => name)).toEqual(risks)
  })
  test('cannot be seen: a note', async () => {
    const { risks, notes } = await plan(wish, { ...on({}), broker: unreachable('broker') })
    expect([risks, notes]).toEqual([
      [],
      expect.arrayContaining([
        'cannot tell whether the existing queues match the setting: RabbitMQ at mq.example.org:5672 refused ' +
          'the connection',
      ]),
    ])
  })
})

test('a service that migrates is not restarted without its risk', async () => {
  const granted = new Date(Date.now() - 60_000).toISOString().replace('T', ' ').replace('Z', '171')
  const held = lockTable([lockRow({ locked: true, lockGranted: granted, lockedBy: 'testops-1 (10.0.0.7)' })])
  const atWork = backend({
    state: 'active',
    query: 'CREATE INDEX i ON t (c)',
    startedAt: ago(61_000),
    transactionStartedAt: ago(60_000),
  })
  const migrates = {
    ...on({}),
    api: unreachable('api'),
    database: [fakeDatabase({ changelogLocks: [held], backends: [atWork] })] as const,
  }
  expect((await plan([{ name: 'TZ', to: 'UTC' }], migrates)).risks.map(({ name }) => name)).toEqual([
    'running-migration',
  ])
  expect((await plan([{ name: 'TZ', to: 'UTC' }], migrates, false)).risks).toEqual([])
})

test.each([
  {
    name: 'VENDOR_RABIT_DURABLE',
    said: ['VENDOR_RABIT_DURABLE is an unknown setting; did you mean `VENDOR_RABBIT_DURABLE`?'],
  },
  {
    name: 'SPRING_RABBITMQ_HOTS',
    said: [
      'SPRING_RABBITMQ_HOTS is an unknown setting; did you mean `SPRING_RABBITMQ_HOST`, `SPRING_RABBITMQ_PORT` ' +
        'or `SPRING_RABBITMQ_PASSWORD`?',
    ],
  },
  { name: 'SPRING_RABBITMQ_HOST', said: [] },
  { name: 'OWN', said: [] },
  { name: 'QUITE_ANOTHER', said: [] },
])('$name: a typo is noted, and not refused', async ({ name, said }) => {
  const { notes, steps } = await plan([{ name, to: '1' }], on({ OWN: 'x' }), false)
  expect([notes.filter((it) => it.includes('did you mean')), steps.length]).toEqual([said, 1])
})

test('a name twice, by itself and by what it is for', async () => {
  await expect(
    plan([
      { name: 'VENDOR_RABBIT_DURABLE', to: 'true' },
      { known: 'rabbitDurable', to: 'true' },
    ]),
  ).rejects.toThrow(AdminError)
})
