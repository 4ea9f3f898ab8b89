import { expect, test } from 'vitest'
import type { Opened } from '../../src/core/endpoint.ts'
import type { BrokerExchange, BrokerQueue, BrokerSource } from '../../src/core/sources.ts'
import { failureOf } from '../adapters/failure-of.ts'
import { lookThrough } from './look.ts'

export interface BrokerSituation {
  queues?: readonly Pick<BrokerQueue, 'name' | 'durable' | 'autoDelete'>[]
  exchanges?: readonly Pick<BrokerExchange, 'name' | 'durable' | 'type'>[]
  /** a client that calls itself so and consumes from that queue */
  consumer?: { queue: string; connection: string }
  /** false: the management API is not there */
  management?: boolean
}

/** What every broker source keeps. Two lines of brokers differ in what they say about deprecated features. */
export function brokerContract(open: (situation: BrokerSituation) => Promise<Opened<BrokerSource>>, line: '3' | '4.3'): void {
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
      expect(all.every(({ vhost, type, exclusive }) => vhost === source.vhost && type === 'classic' && !exclusive)).toBe(true)
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
      { name: 'lasting', durable: true, type: 'topic' },
      { name: 'passing', durable: false, type: 'fanout' },
    ]
    const found = await look({ exchanges }, async (source) => source.exchanges())
    expect(found.map(({ name, durable, type }) => ({ name, durable, type }))).toEqual(exchanges)
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
    for (const method of ['queues', 'exchanges', 'consumers', 'nodes', 'deprecatedFeature'] as const) {
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
