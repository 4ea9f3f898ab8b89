import type {
  BrokerConnection,
  BrokerConsumer,
  BrokerExchange,
  BrokerNode,
  BrokerNodeFigures,
  BrokerQueue,
  BrokerSource,
} from '../../src/core/sources.ts'
import { fake } from './fake.ts'
import type { Answers } from './fake.ts'

/** A healthy broker with one durable queue and exchange, one consumer and one node, unless told otherwise. */
export function fakeBroker(answers: Answers<BrokerSource> = {}): BrokerSource {
  const queues = Array.isArray(answers.queues) ? (answers.queues as readonly BrokerQueue[]) : [queue()]
  return fake<BrokerSource>(
    {
      target: 'mq.example.org:5672, vhost /',
      vhost: '/',
      user: 'testops',
      identity: { product: 'RabbitMQ', version: '3.13.7' },
      queues: [queue()],
      exchanges: [exchange()],
      consumers: [consumer()],
      deprecatedFeature: { state: 'permitted', used: false },
      nodes: [node()],
      bindings: [],
      policies: [],
      connections: [connection()],
      connectionsOf: [],
      tags: ['monitoring'],
      permissions: { configure: '.*', write: '.*', read: '.*' },
      counts: (names) => {
        const found = names.map((name) => queues.find((it) => it.name === name) ?? null)
        return new Map(
          found.map((it, index) => [
            names[index] ?? '',
            it && { ready: it.messages ?? 0, consumers: it.consumers ?? 0 },
          ]),
        )
      },
    },
    [
      'identity',
      'queues',
      'exchanges',
      'consumers',
      'deprecatedFeature',
      'nodes',
      'bindings',
      'policies',
      'connections',
      'connectionsOf',
      'tags',
      'permissions',
      'counts',
    ],
    answers,
  )
}

/** A durable classic queue with one consumer, unless told otherwise. */
export function queue(of: Partial<BrokerQueue> = {}): BrokerQueue {
  return {
    name: 'testops.upload',
    vhost: '/',
    durable: true,
    autoDelete: false,
    exclusive: false,
    type: 'classic',
    arguments: {},
    messages: 0,
    consumers: 1,
    policy: null,
    ...of,
  }
}

/** A durable topic exchange, unless told otherwise. */
export function exchange(of: Partial<BrokerExchange> = {}): BrokerExchange {
  return {
    name: 'testops.events',
    vhost: '/',
    durable: true,
    autoDelete: false,
    internal: false,
    type: 'topic',
    arguments: {},
    ...of,
  }
}

export function consumer(of: Partial<BrokerConsumer> = {}): BrokerConsumer {
  return { queue: 'testops.upload', vhost: '/', user: 'testops', connection: 'rabbitConnectionFactory#1', ...of }
}

/** A connection of the service, unless told otherwise. */
export function connection(of: Partial<BrokerConnection> = {}): BrokerConnection {
  return { name: '10.0.0.7:41000 -> 10.0.0.9:5672', clientName: 'rabbitConnectionFactory#1', user: 'testops', ...of }
}

export function nodeFigures(of: Partial<BrokerNodeFigures> = {}): BrokerNodeFigures {
  return {
    memoryUsedBytes: 150_000_000,
    memoryLimitBytes: 3_000_000_000,
    diskFreeBytes: 20_000_000_000,
    diskLimitBytes: 50_000_000,
    ...of,
  }
}

/** A running node without alarms, unless told otherwise. */
export function node(of: Partial<BrokerNode> = {}): BrokerNode {
  return {
    name: 'rabbit@mq',
    running: true,
    memoryAlarm: false,
    diskAlarm: false,
    figures: nodeFigures(),
    ...of,
  }
}
