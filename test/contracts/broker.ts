import { expect, test as always } from 'vitest'
import type { Opened } from '../../src/core/endpoint.ts'
import type { BrokerExchange, BrokerPolicy, BrokerQueue, BrokerSource } from '../../src/core/sources.ts'
import type { Binding } from '../../src/core/broker-control.ts'
import { failureOf } from '../adapters/failure-of.ts'
import { lookThrough } from './look.ts'

export interface BrokerSituation {
  queues?: readonly Pick<BrokerQueue, 'name' | 'durable' | 'autoDelete'>[]
  exchanges?: readonly (Pick<BrokerExchange, 'name' | 'durable' | 'type'> &
    Partial<Pick<BrokerExchange, 'arguments'>>)[]
  bindings?: readonly Binding[]
  policies?: readonly BrokerPolicy[]
  /** of the user, beside monitoring */
  tag?: string
  /** of each queue */
  messages?: Readonly<Record<string, number>>
  /** a client that calls itself so and consumes from that queue */
  consumer?: { queue: string; connection: string }
  /** false: the management API is not there */
  management?: boolean
}

/** What every broker source keeps. Two lines of brokers differ in what they say about deprecated features. */
export function brokerContract(
  open: (situation: BrokerSituation) => Promise<Opened<BrokerSource>>,
  line: '3' | '4.3',
  test: (name: string, run: () => Promise<void>) => void = always,
): void {
  const look = lookThrough(open)

  test('says where and what it is, with the management API or without', async () => {
    for (const management of [true, false]) {
      await look({ management }, async (source) => {
        expect(source.target).toMatch(/^[\w.-]+:\d+, vhost .+$/)
        expect(source.target.endsWith(`vhost ${source.vhost}`)).toBe(true)
        expect(source.user).not.toBe('')
        const identity = await source.identity()
        expect(identity.product).toBe('RabbitMQ')
        expect(identity.version).toMatch(line === '3' ? /^3\.\d+\.\d+/ : /^4\.\d+\.\d+/)
        return identity
      })
    }
  })

  test('lists queues of its vhost alone', async () => {
    // a broker that refuses transient queues has none to list
    const transient = line === '3' ? [{ name: 'transient', durable: false, autoDelete: false }] : []
    const queues = [
      { name: 'durable', durable: true, autoDelete: false },
      { name: 'passing ü/%', durable: true, autoDelete: true },
      ...transient,
    ]
    const found = await look({ queues }, async (source) => {
      const all = await source.queues()
      expect(
        all.every(({ vhost, type, exclusive }) => vhost === source.vhost && type === 'classic' && !exclusive),
      ).toBe(true)
      return all
    })
    const names = found.map(({ name, durable, autoDelete }) => ({ name, durable, autoDelete }))
    expect(names.sort((a, b) => a.name.localeCompare(b.name))).toEqual(queues)
    // a broker that has just got them has not counted yet
    expect(found.every(({ policy, messages }) => policy === null && (messages ?? 0) === 0)).toBe(true)
  })

  test('lists no queues where there are none', async () => {
    expect(await look({}, async (source) => source.queues())).toEqual([])
  })

  test('lists exchanges without those of the broker itself', async () => {
    const exchanges = [
      { name: 'lasting', durable: true, type: 'topic', arguments: { 'alternate-exchange': 'passing' } },
      { name: 'passing', durable: false, type: 'fanout', arguments: {} },
    ]
    const found = await look({ exchanges }, async (source) => source.exchanges())
    const shown = found.map(({ name, durable, type, arguments: given }) => ({ name, durable, type, arguments: given }))
    expect(shown.sort((a, b) => a.name.localeCompare(b.name))).toEqual(exchanges)
  })

  test('lists bindings without those that every queue has', async () => {
    const queues = [{ name: 'q', durable: true, autoDelete: false }]
    const exchanges = ['e', 'f'].map((name) => ({ name, durable: true, type: 'headers' }))
    const bindings: Binding[] = [
      {
        source: 'e',
        destination: 'f',
        destinationKind: 'exchange',
        routingKey: '',
        arguments: { 'x-match': 'all', size: 5, deep: { none: {}, half: 0.5, yes: true, size: 5_000_000_000 } },
      },
      { source: 'f', destination: 'q', destinationKind: 'queue', routingKey: 'ü.#/%', arguments: {} },
    ]
    const found = await look({ queues, exchanges, bindings }, async (source) => source.bindings())
    const [first, second] = [...found].sort((a, b) => a.source.localeCompare(b.source))
    // its own key is told by the management API alone, the types of its arguments by rabbitmqctl alone
    expect([{ ...first, key: undefined, typed: undefined }, second]).toEqual(bindings)
  })

  test('lists policies, those of operators among them', async () => {
    const policies: BrokerPolicy[] = [
      {
        name: 'dead',
        isOperators: false,
        pattern: '^a.*"ü',
        appliesTo: 'all',
        priority: 3,
        definition: { 'dead-letter-exchange': 'x' },
      },
      {
        name: 'short',
        isOperators: true,
        pattern: '',
        appliesTo: 'queues',
        priority: 0,
        definition: { 'max-length': 10, expires: 5000 },
      },
    ]
    const found = await look({ policies }, async (source) => source.policies())
    expect([...found].sort((a, b) => a.name.localeCompare(b.name))).toEqual(policies)
    expect(await look({}, async (source) => source.policies())).toEqual([])
  })

  test("lists the user's tags", async () => {
    const tags = async (situation: BrokerSituation): Promise<readonly string[]> =>
      [...(await look(situation, async (source) => source.tags()))].sort()
    expect([await tags({}), await tags({ tag: 'impersonator' })]).toEqual([
      ['monitoring'],
      ['impersonator', 'monitoring'],
    ])
  })

  test('shows an administrator their own permissions', async () => {
    const shown = await look({ tag: 'administrator' }, async (source) => source.permissions())
    expect(shown).toEqual({ configure: '.*', write: '.*', read: '.*' })
  })

  test('counts queues at once, with the management API or without', async () => {
    const queues = ['empty', 'full ü/%', 'read'].map((name) => ({ name, durable: true, autoDelete: false }))
    for (const management of [true, false]) {
      const situation = {
        queues,
        messages: { 'full ü/%': 3 },
        consumer: { queue: 'read', connection: 'the-service' },
        management,
      }
      const counted = await look(situation, async (source) =>
        source.counts(['gone', 'full ü/%', 'read', 'empty', 'gone too', 'full ü/%']),
      )
      expect([...counted]).toEqual([
        ['gone', null],
        ['full ü/%', { ready: 3, consumers: 0 }],
        ['read', { ready: 0, consumers: 1 }],
        ['empty', { ready: 0, consumers: 0 }],
        ['gone too', null],
      ])
    }
    expect(await look({}, async (source) => source.counts([]))).toEqual(new Map())
  })

  test('lists who is connected', async () => {
    const situation = {
      queues: [{ name: 'q', durable: true, autoDelete: false }],
      consumer: { queue: 'q', connection: 'the-service' },
    }
    await look(situation, async (source) => {
      // both have only just come, and lists lag by some seconds
      const found = await source.connections()
      const shown = found.map(({ clientName, user }) => ({ clientName, user }))
      expect(shown.sort((a, b) => String(a.clientName).localeCompare(String(b.clientName)))).toEqual(
        ['testops-admin', 'the-service'].map((clientName) => ({ clientName, user: source.user })),
      )
      expect(found.every(({ name }) => /:\d+ -> .*:\d+$/.test(name))).toBe(true)
      return found
    })
  })

  test('knows at once whose connections are there, and soon which of them are ours', async () => {
    const situation = {
      queues: [{ name: 'q', durable: true, autoDelete: false }],
      consumer: { queue: 'q', connection: 'the-service' },
    }
    await look(situation, async (source) => {
      await source.counts(['q'])
      const found = await source.connectionsOf(source.user)
      expect(found.map(({ user }) => user)).toEqual([source.user, source.user])
      // where addresses are translated on the way, ours is known once it is listed by its name
      const named = await eventually(
        async () => source.connectionsOf(source.user),
        (list) => ['testops-admin', 'the-service'].every((name) => list.some(({ clientName }) => clientName === name)),
      )
      expect(named).toHaveLength(2)
      expect(await source.connectionsOf('nobody')).toEqual([])
      return found
    })
  })

  test('knows consumers by the name of their connection', async () => {
    const situation = {
      queues: [{ name: 'q', durable: true, autoDelete: false }],
      consumer: { queue: 'q', connection: 'the-service' },
    }
    await look(situation, async (source) => {
      // the broker counts every few seconds
      const consumers = await eventually(
        async () => source.consumers(),
        (list) => list[0]?.connection === 'the-service',
      )
      expect(consumers).toEqual([{ queue: 'q', vhost: source.vhost, user: source.user, connection: 'the-service' }])
      return consumers
    })
  })

  test('says what it thinks of transient queues', async () => {
    const feature = await look({}, async (source) => source.deprecatedFeature('transient_nonexcl_queues'))
    if (line === '4.3') expect(feature).toEqual({ state: 'denied', used: false })
    else expect([null, { state: 'permitted', used: false }, { state: 'unknown', used: false }]).toContainEqual(feature)
    expect(await look({}, async (source) => source.deprecatedFeature('no_such_feature'))).toBe(null)
  })

  test('lists nodes', async () => {
    const [node, ...others] = await look({}, async (source) =>
      eventually(
        async () => source.nodes(),
        ([first]) => first?.figures !== null,
      ),
    )
    expect(others).toEqual([])
    expect(node).toMatchObject({ running: true, memoryAlarm: false, diskAlarm: false })
    for (const figure of ['memoryUsedBytes', 'memoryLimitBytes', 'diskFreeBytes', 'diskLimitBytes'] as const) {
      expect(node?.figures?.[figure]).toBeGreaterThan(0)
    }
  })

  test('without the management API it says how to get it', async () => {
    const { source, close } = await open({ management: false })
    for (const method of [
      'queues',
      'exchanges',
      'consumers',
      'nodes',
      'deprecatedFeature',
      'bindings',
      'policies',
      'connections',
      'connectionsOf',
      'tags',
      'permissions',
    ] as const) {
      expect(await failureOf(source[method]('transient_nonexcl_queues'))).toMatch(
        /^UNAVAILABLE RabbitMQ's management API at \S+ is not reachable$/,
      )
    }
    await close()
  })
}

async function eventually<T>(look: () => Promise<T>, good: (value: T) => boolean): Promise<T> {
  for (let attempt = 0; attempt < 60; attempt += 1) {
    const value = await look()
    if (good(value)) return value
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
  return look()
}
