import { createHash } from 'node:crypto'
import type { ServerRecord } from '../../../src/lab/servers/index.ts'
import { evaluate } from '../../servers/index.ts'
import { wire, wireProperties, withDeliveryMode } from './wire.ts'
import type { Wire, WireProperties, WireTable, WireValue } from './wire.ts'

/** A virtual host as its broker keeps it: each term with its type. */
export interface Whole {
  /** by name: what it is, and its arguments as Erlang writes them */
  queues: Record<string, { durable: boolean; autoDelete: boolean; type: string; arguments: string }>
  exchanges: Record<
    string,
    { durable: boolean; autoDelete: boolean; internal: boolean; type: string; arguments: string }
  >
  bindings: string[]
  /**
   * of classic queues, in their order: routing key, properties as bytes but for the delivery mode, and the body's
   * length and sum
   */
  messages: Record<string, string[]>
}

/** One line for each, fields divided by tabs. */
const script = (vhost: string): string => `
  V = <<"${vhost}">>,
  Name = fun(R) -> element(4, R) end,
  Sorted = fun(A) -> io_lib:format("~w", [lists:sort(A)]) end,
  Queues = [io_lib:format("queue\\t~s\\t~w\\t~w\\t~w\\t~s",
      [Name(amqqueue:get_name(Q)), amqqueue:is_durable(Q), amqqueue:is_auto_delete(Q), amqqueue:get_type(Q),
       Sorted(amqqueue:get_arguments(Q))])
    || Q <- rabbit_amqqueue:list(V)],
  Exchanges = [io_lib:format("exchange\\t~s\\t~w\\t~w\\t~w\\t~w\\t~s",
      [Name(element(2, E)), element(4, E), element(5, E), element(6, E), element(3, E), Sorted(element(7, E))])
    || E <- rabbit_exchange:list(V)],
  Bindings = [io_lib:format("binding\\t~s\\t~w\\t~s\\t~s\\t~w",
      [Name(element(2, B)), element(3, element(4, B)), Name(element(4, B)), element(3, B), element(5, B)])
    || B <- rabbit_binding:list(V)],
  lists:join("\\n", Queues ++ Exchanges ++ Bindings)`

/** Nothing of what this program reads it with is used here. */
export async function wholeOf(server: ServerRecord, vhost: string, url: string): Promise<Whole> {
  const text = await evaluate(server, script(vhost))
  const rows = text.split('\n').map((line) => line.split('\t'))
  const of = (kind: string): string[][] =>
    rows
      .filter((row) => row[0] === kind)
      .map((row) => row.slice(1))
      .sort(([a = ''], [b = '']) => (a < b ? -1 : 1))
  const queues = of('queue').map(
    ([name = '', durable, autoDelete, type = '', values = '']) =>
      [name, { durable: durable === 'true', autoDelete: autoDelete === 'true', type, arguments: values }] as const,
  )
  const exchanges = of('exchange')
    .filter(([name = '']) => name !== '' && !name.startsWith('amq.'))
    .map(
      ([name = '', durable, autoDelete, internal, type = '', values = '']) =>
        [
          name,
          {
            durable: durable === 'true',
            autoDelete: autoDelete === 'true',
            internal: internal === 'true',
            type,
            arguments: values,
          },
        ] as const,
    )
  const classic = queues.filter(([, { type }]) => type === 'rabbit_classic_queue').map(([name]) => name)
  const messages = await Promise.all(classic.map(async (name) => [name, await messagesIn(url, name)] as const))
  return {
    queues: Object.fromEntries(queues),
    exchanges: Object.fromEntries(exchanges),
    bindings: of('binding')
      .filter(([source]) => source !== '')
      .map((row) => row.join(' '))
      .sort(),
    messages: Object.fromEntries(messages),
  }
}

async function messagesIn(url: string, queue: string): Promise<string[]> {
  const broker = await wire(url)
  const all: string[] = []
  for (let it = await broker.get(queue); it; it = await broker.get(queue)) {
    all.push(
      `${it.routingKey} ${withDeliveryMode(it.properties, 2).toString('hex')} ${it.body.length} ` +
        `${createHash('sha256').update(it.body).digest('hex')}`,
    )
  }
  // what was not acknowledged is in its place again
  await broker.close()
  return all
}

/** Each type that AMQP 0-9-1 has for a value, as RabbitMQ reads it. */
export const eachType: WireTable = [
  ['bool', ['t', true]],
  ['int8', ['b', -5]],
  ['uint8', ['B', 250]],
  ['int16', ['s', -300]],
  ['uint16', ['u', 60_000]],
  ['int32', ['I', -70_000]],
  ['uint32', ['i', 4_000_000_000]],
  ['int64', ['l', 5n]],
  ['large int64', ['l', -5_000_000_000n]],
  ['float', ['f', 0.1]],
  ['whole float', ['f', 5]],
  ['double', ['d', 0.1]],
  ['whole double', ['d', 5]],
  ['decimal', ['D', [2, 314]]],
  ['text', ['S', 'Привет']],
  ['empty text', ['S', '']],
  ['undefined', ['S', 'undefined']],
  ['void', ['V']],
  ['bytes', ['x', 'abc']],
  ['other bytes', ['x', Buffer.from([0, 0xff, 0xce])]],
  ['time', ['T', 1_700_000_000n]],
  [
    'table',
    [
      'F',
      [
        ['z', ['l', 1n]],
        ['a', ['F', [['deep', ['V']]]]],
      ],
    ],
  ],
  ['list', ['A', [['s', 1], ['V'], ['A', [['S', 'x']]]]]],
]
/** Messages keep these as well, since their bytes are not read; no list shows them. */
const onlyInMessages: WireTable = [
  ['int64 above 2^53', ['l', 9_007_199_254_740_993n]],
  ['no UTF-8', ['S', Buffer.from([0xff, 0xfe, 0x28])]],
  ['twice', ['b', 1]],
  ['twice', ['b', 2]],
]

const all: readonly WireProperties[] = [
  {},
  ...[...eachType, ...onlyInMessages].map((one): WireProperties => ({ headers: [one] })),
  { headers: [...eachType, ...onlyInMessages], deliveryMode: 1 },
  { headers: [] },
  {
    headers: [
      [
        'x-death',
        [
          'A',
          [
            [
              'F',
              [
                ['count', ['l', 3n]],
                ['queue', ['S', 'q']],
                ['time', ['T', 1_700_000_000n]],
              ],
            ],
          ],
        ],
      ],
      ['x-first-death-reason', ['S', 'rejected']],
    ],
  },
  { headers: [['CC', ['A', [['S', 'nowhere']]]]] },
  { deliveryMode: 1, priority: 0 },
  { deliveryMode: 2, priority: 255, expiration: '86400000' },
  {
    contentType: 'application/json',
    contentEncoding: 'utf-8',
    correlationId: 'c',
    replyTo: 'r',
    messageId: 'm',
    timestamp: 2n ** 62n,
    type: 't',
    appId: 'a',
    clusterId: 'x',
  },
]

/** Of a queue: one of each kind, and bodies of all lengths. `user`: who publishes, whom the broker lets say so. */
export async function publishAll(broker: Wire, queue: string, user: string): Promise<void> {
  const bodies = [
    Buffer.alloc(0),
    Buffer.from([0, 0xff, 0xce, 0]),
    Buffer.alloc(131_065, 'f'),
    Buffer.alloc(1_048_576, Buffer.from([1, 0xfe, 0])),
  ]
  for (const [index, properties] of all.entries())
    await broker.publish('', queue, wireProperties({ ...properties, userId: user }), Buffer.from(`${index}`))
  for (const body of bodies) await broker.publish('', queue, wireProperties({ messageId: `${body.length}` }), body)
}

const text = (value: string): WireValue => ['S', value]
const whole = (value: number): WireValue => ['I', value]

/** Every kind of transient queue that is not exclusive, by name. */
export const transientQueues: Readonly<Record<string, { autoDelete?: true; table: WireTable }>> = {
  plain: { table: [] },
  empty: { table: [] },
  ttl: { table: [['x-message-ttl', whole(3_600_000)]] },
  expiring: { table: [['x-expires', whole(3_600_000)]] },
  dropping: {
    table: [
      ['x-max-length', whole(100)],
      ['x-overflow', text('drop-head')],
    ],
  },
  rejecting: {
    table: [
      ['x-max-length', whole(100)],
      ['x-overflow', text('reject-publish')],
    ],
  },
  bytes: {
    table: [
      ['x-max-length-bytes', ['l', 5_000_000_000n]],
      ['x-overflow', text('reject-publish-dlx')],
      ['x-dead-letter-exchange', text('d-direct')],
    ],
  },
  priority: { table: [['x-max-priority', whole(9)]] },
  lazy: { table: [['x-queue-mode', text('lazy')]] },
  single: { table: [['x-single-active-consumer', ['t', true]]] },
  dead: {
    table: [
      ['x-dead-letter-exchange', text('t-direct')],
      ['x-dead-letter-routing-key', text('gone')],
    ],
  },
  passing: { autoDelete: true, table: [] },
  custom: {
    table: [
      ['x-note', text('kept')],
      ['x-flag', ['t', false]],
      ['x-number', whole(7)],
      ['x-large', ['l', 7_000_000_000n]],
      ['x-part', ['d', 1.5]],
    ],
  },
}

const types = ['direct', 'topic', 'fanout', 'headers'] as const
export const transientExchanges: readonly string[] = [
  ...types.map((type) => `t-${type}`),
  't-internal',
  't-passing',
  't-alternate',
  't-custom',
]

/** All that a virtual host may hold, but for messages. */
export async function declareAll(broker: Wire): Promise<void> {
  for (const type of types) {
    await broker.declareExchange(`t-${type}`, type, {})
    await broker.declareExchange(`d-${type}`, type, { durable: true })
  }
  await broker.declareExchange('t-internal', 'topic', { internal: true })
  await broker.declareExchange('t-passing', 'direct', { autoDelete: true })
  await broker.declareExchange('t-alternate', 'direct', {}, [['alternate-exchange', text('d-fanout')]])
  await broker.declareExchange('t-custom', 'headers', {}, [['x-note', text('kept')]])
  // others', which go with their last binding
  for (const type of types) await broker.declareExchange(`passing-${type}`, type, { durable: true, autoDelete: true })
  await broker.declareExchange('passing-internal', 'fanout', { durable: true, autoDelete: true, internal: true })
  for (const [name, { autoDelete = false, table }] of Object.entries(transientQueues))
    await broker.declareQueue(name, { autoDelete }, table)
  await broker.declareQueue('stays', { durable: true })
  await broker.declareQueue('quorum', { durable: true }, [['x-queue-type', text('quorum')]])
  await broker.declareQueue('stream', { durable: true }, [['x-queue-type', text('stream')]])

  for (const exchange of ['t-headers', 'd-headers']) {
    for (const queue of ['plain', 'empty', 'stays']) {
      for (const one of eachType) await broker.bindQueue(queue, exchange, 'same', [['x-match', text('all')], one])
      await broker.bindQueue(queue, exchange, '', [['x-match', text('any')], ...eachType.slice(0, 4)])
    }
  }
  for (const exchange of ['t-topic', 'd-topic', 't-direct', 'd-direct', 't-fanout', 't-alternate']) {
    for (const queue of Object.keys(transientQueues))
      for (const key of [queue, `${queue}.#`, 'Ключ /.#*%']) await broker.bindQueue(queue, exchange, key)
  }
  await broker.bindExchange('t-internal', 't-topic', 'in.#')
  await broker.bindExchange('t-internal', 'd-topic', 'in.#', [
    ['hops', ['l', 3n]],
    ['note', ['V']],
  ])
  await broker.bindExchange('d-fanout', 't-direct', 'out', [
    [
      'z',
      [
        'F',
        [
          ['b', ['b', 1]],
          ['a', ['x', 'y']],
        ],
      ],
    ],
  ])
  await broker.bindQueue('plain', 't-internal', '#')
  await broker.bindQueue('empty', 't-passing', 'passing')
  await broker.bindQueue('stays', 't-custom', '', [
    ['x-match', text('all')],
    ['one', ['f', 0.5]],
  ])
  await broker.bindQueue('empty', 'passing-direct', 'empty')
  await broker.bindQueue('plain', 'passing-topic', 'plain.#')
  await broker.bindExchange('t-topic', 'passing-fanout', '')
  await broker.bindQueue('passing', 'passing-headers', '', [
    ['x-match', text('all')],
    ['one', ['u', 1]],
  ])
  // goes with the other, which goes with its own last binding
  await broker.bindExchange('passing-direct', 'passing-internal', 'chain')
}
