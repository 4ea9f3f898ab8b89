import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import amqp from 'amqplib'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { openBrokerControl } from '../../src/adapters/rabbitmq/control/index.ts'
import { openBroker } from '../../src/adapters/rabbitmq/index.ts'
import type { BrokerControl, ExchangeDeclaration, QueueDeclaration } from '../../src/core/broker-control.ts'
import type { AdminError } from '../../src/core/error.ts'
import type { BrokerEndpoint } from '../../src/core/endpoint.ts'
import { freshVhost } from '../servers/index.ts'
import type { FreshVhost } from '../servers/index.ts'
import { errorOf, failureOf } from './failure-of.ts'
import { closedPort, cuttableProxy, silentPeer } from './peers.ts'

describe.each(['3', '4.3'] as const)('%s', (line) => {
  let vhost: FreshVhost
  beforeEach(async () => {
    vhost = await freshVhost(line)
  })
  afterEach(async () => vhost.cleanup())

  function opened(of: Partial<BrokerEndpoint> = {}, timeoutMs = 10_000): BrokerControl {
    const { source, close } = openBrokerControl({ ...vhost.endpoint, ...of }, { timeoutMs })
    onTestFinished(close)
    return source
  }

  async function allow(configure: string, write: string, read: string): Promise<void> {
    await vhost.manage('PUT', `/api/permissions/${vhost.vhost}/${vhost.endpoint.user}`, { configure, write, read })
  }

  async function connected(): Promise<amqp.ChannelModel> {
    const client = await amqp.connect(vhost.url)
    client.on('error', () => undefined)
    return client
  }

  async function queues(): Promise<string[]> {
    const { source, close } = await openBroker(vhost.endpoint, { timeoutMs: 10_000 })
    const found = await source.queues()
    await close()
    return found.map(({ name }) => name).sort()
  }

  test('a thousand queues are declared, counted, bound and deleted side by side', async () => {
    const control = opened()
    const names = Array.from({ length: 1000 }, (_, index) => `q${index}`)
    const { source, close } = await openBroker(vhost.endpoint, { timeoutMs: 10_000 })
    onTestFinished(close)
    await control.declareExchange({
      name: 'e',
      type: 'direct',
      durable: true,
      autoDelete: false,
      internal: false,
      arguments: {},
    })
    const declared = await control.declareQueues(names.map(durable))
    expect([...declared]).toEqual(names.map((name) => [name, 'declared']))
    await control.bind(
      names.map((destination) => ({
        source: 'e',
        destination,
        destinationKind: 'queue',
        routingKey: destination,
        arguments: {},
      })),
    )
    expect((await source.bindings()).length).toBe(1000)
    expect([...(await source.counts(names))]).toEqual(names.map((name) => [name, { ready: 0, consumers: 0 }]))
    const deleted = await control.deleteQueues(names.map((name) => ({ name, most: 0 })))
    expect([...deleted]).toEqual(names.map((name) => [name, 'deleted']))
    expect([...(await source.counts(names))]).toEqual(names.map((name) => [name, null]))
  })

  test('without a permission it names the one that is missing', async () => {
    await opened().declareQueues([durable('there')])
    await opened().declareExchange({
      name: 'e',
      type: 'direct',
      durable: true,
      autoDelete: false,
      internal: false,
      arguments: {},
    })
    const { user, host, port } = vhost.endpoint
    const message = (right: string, object: string, what: string): string =>
      `FORBIDDEN user ${user} has no ${line === '3' ? 'sufficient' : right} permission on ${object} in vhost ` +
      `${vhost.vhost} of RabbitMQ at ${host}:${port} (${what})`
    await allow('^$', '^$', '^$')
    const control = opened()
    expect(await failureOf(control.declareQueues([durable('q')]))).toBe(
      message('configure', "queue 'q'", 'declaring queue q'),
    )
    expect(await failureOf(control.deleteQueue('there', { most: 0 }))).toBe(
      message('configure', "queue 'there'", 'deleting queue there'),
    )
    expect(await failureOf(control.purge('there'))).toBe(message('read', "queue 'there'", 'emptying queue there'))
    expect(await failureOf(control.deleteExchange('e'))).toBe(
      message('configure', "exchange 'e'", 'deleting exchange e'),
    )
    expect(await failureOf(control.keep(['there']))).toBe(
      message(
        'configure',
        "queue 'there'",
        line === '3' ? 'keeping RabbitMQ from deleting queue there' : 'counting queue there',
      ),
    )
    const refused = await errorOf(
      control.bind([{ source: 'e', destination: 'there', destinationKind: 'queue', routingKey: 'k', arguments: {} }]),
    )
    expect(`${refused?.code} ${refused?.message}`).toBe(
      message('write', "queue 'there'", 'binding queue there to exchange e with key k'),
    )
    expect(refused?.suggestions).toEqual([
      `rabbitmqctl list_permissions -p ${vhost.vhost}`,
      `rabbitmqctl set_permissions -p ${vhost.vhost} ${user} '.*' '.*' '.*'`,
    ])
    await allow('.*', '.*', '.*')
    expect(await control.deleteQueue('there', { most: 0 })).toBe('deleted')
  })

  describe('asks for a permission', () => {
    const letters = { ...durable('letters'), arguments: { 'x-dead-letter-exchange': 'dead' } }
    const of = {
      queues: [durable('first'), letters],
      exchanges: [topic('work'), { ...topic('passing'), arguments: { 'alternate-exchange': 'unrouted' } }],
      bindings: [
        { source: 'source', destination: 'letters', destinationKind: 'queue', routingKey: 'k', arguments: {} },
        { source: 'work', destination: 'other', destinationKind: 'exchange', routingKey: 'k', arguments: {} },
      ],
      holding: ['held.first', 'held.second'],
    } as const
    const rights = ['configure', 'write', 'read'] as const
    const discards = { ...of, discards: true }
    // RabbitMQ cuts a refusal to 255 bytes, and this program writes it on one line
    const long = 'long.'.padEnd(220, 'x')
    const cyrillic = 'о'.repeat(119)
    const named = (name: string): typeof of => ({
      ...of,
      queues: [durable(name), { ...durable(`${name}.`), arguments: { 'x-dead-letter-exchange': `${name}-` } }] as never,
      bindings: [{ ...of.bindings[1], source: `${name}1`, destination: `${name}2` }] as never,
    })

    test.each<[(typeof rights)[number], string, typeof of | typeof discards, string | null]>([
      ...[long, 'two  spaces', 'a\ttab'].flatMap((name) =>
        (
          [
            ['configure', name, 'queue'],
            ['write', name, 'queue'],
            ['read', name, 'queue'],
            ['write', `${name}-`, 'exchange'],
            ['read', `${name}-`, 'exchange'],
            ['read', `${name}1`, 'exchange'],
            ['write', `${name}2`, 'exchange'],
          ] as const
        ).map(([right, it, kind]) => [right, it, named(name), `${kind} '${it}'`] as const satisfies unknown[]),
      ),
      ['configure', 'held.second', of, "queue 'held.second'"],
      ['write', 'held.second', of, "queue 'held.second'"],
      ['read', 'held.second', of, "queue 'held.second'"],
      ['configure', 'first', of, "queue 'first'"],
      ['configure', 'letters', of, "queue 'letters'"],
      ['configure', 'held.first', of, "queue 'held.first'"],
      ['configure', 'work', of, "exchange 'work'"],
      ['configure', 'testops-admin.back.trial', of, "exchange 'testops-admin.back.trial'"],
      ['configure', 'dead', of, null],
      ['write', 'first', of, "queue 'first'"],
      ['write', 'held.first', of, "queue 'held.first'"],
      ['write', 'dead', of, "exchange 'dead'"],
      ['write', 'other', of, "exchange 'other'"],
      ['write', 'amq.default', of, "exchange 'amq.default'"],
      ['write', 'testops-admin.back.trial', of, "exchange 'testops-admin.back.trial'"],
      ['write', 'source', of, null],
      ['write', 'unrouted', of, "exchange 'unrouted'"],
      ['read', 'passing', of, "exchange 'passing'"],
      ['read', 'unrouted', of, null],
      ['read', 'first', of, "queue 'first'"],
      ['read', 'held.first', of, "queue 'held.first'"],
      ['read', 'dead', of, "exchange 'dead'"],
      ['read', 'source', of, "exchange 'source'"],
      ['read', 'work', of, "exchange 'work'"],
      ['read', 'testops-admin.back.trial', of, "exchange 'testops-admin.back.trial'"],
      ['read', 'other', of, null],
      // messages that are deleted with their queue are not read; a queue that sends dead letters still is
      ['read', 'first', discards, null],
      ['write', 'first', discards, null],
      ['write', 'amq.default', discards, null],
      ['read', 'letters', discards, "queue 'letters'"],
      ['write', 'dead', discards, "exchange 'dead'"],
      ['read', 'dead', discards, "exchange 'dead'"],
    ])('%s on %s', async (right, name, asked, object) => {
      const control = opened()
      await control.declareQueues([durable('first')])
      await control.declareExchange(topic('dead'))
      // it takes whatever is really published as a dead letter
      await control.bind([
        { source: 'dead', destination: 'first', destinationKind: 'queue', routingKey: '#', arguments: {} },
      ])
      const { source, close } = await openBroker(vhost.endpoint, { timeoutMs: 10_000 })
      onTestFinished(close)
      const all = async (): Promise<unknown> => [
        await queues(),
        (await source.exchanges()).map((it) => it.name),
        await source.bindings(),
        await source.counts(['first']),
      ]
      const before = await all()
      const pattern = `^(?!${name.replaceAll('.', '\\.')}$)`
      const [configure = '', write = '', read = ''] = rights.map((it) => (it === right ? pattern : '.*'))
      await allow(configure, write, read)
      const asking = opened()
      expect(await asking.lackedPermission(asked)).toEqual({ lacked: object && { right, object }, unanswered: [] })
      await allow('.*', '.*', '.*')
      expect(await all()).toEqual(before)
      expect(before).toMatchObject([['first'], ['dead'], [{}], new Map([['first', { ready: 0, consumers: 0 }]])])
    })

    test('for the routing keys of a topic exchange, which are granted separately', async () => {
      const { user } = vhost.endpoint
      const asking = opened()
      const permit = async (exchange: string, read: string): Promise<unknown> =>
        vhost.manage('PUT', `/api/topic-permissions/${vhost.vhost}/${user}`, { exchange, write: '.*', read })
      const to = (routingKey: string): (typeof of.bindings)[number] =>
        ({ source: 'work', destination: 'letters', destinationKind: 'queue', routingKey, arguments: {} }) as never
      const its = {
        queues: [letters],
        exchanges: [topic('work'), topic('dead')],
        bindings: [to('first.a'), to('second.b')],
      }
      for (const it of its.exchanges) await asking.declareExchange(it)
      await asking.declareQueues(its.queues)
      await asking.bind(its.bindings)
      const told = async (): Promise<unknown[]> => [
        await asking.lackedPermission({ ...its, holding: [] }),
        await asking
          .tryRights(its)
          .catch((it: AdminError) => [it.code, it.message.split(' in vhost')[0], it.suggestions]),
      ]
      const lacking = (key: string): unknown[] => {
        const object = `topic '${key}' in exchange 'work'`
        return [
          { lacked: { right: 'read', object, topicOf: 'work' }, unanswered: [] },
          [
            'FORBIDDEN',
            `user ${user} has no ${line === '3' ? 'sufficient' : 'read'} permission on ${object}`,
            [
              `rabbitmqctl list_topic_permissions -p ${vhost.vhost}`,
              `rabbitmqctl set_topic_permissions -p ${vhost.vhost} ${user} work '.*' '.*'`,
            ],
          ],
        ]
      }
      // a key that the service does not use may be denied
      for (const exchange of ['work', 'dead']) await permit(exchange, '^(first|second)\\.')
      expect(await told()).toEqual([{ lacked: null, unanswered: [] }, []])
      await permit('work', '^first\\.')
      expect(await told()).toEqual(lacking('second.b'))
      await permit('work', '^second\\.')
      expect(await told()).toEqual(lacking('first.a'))
      const { source, close } = await openBroker(vhost.endpoint, { timeoutMs: 10_000 })
      onTestFinished(close)
      expect((await source.bindings()).map((it) => it.routingKey).sort()).toEqual(['first.a', 'second.b'])
    })

    test('for a routing key and an exchange whose names RabbitMQ cuts', async () => {
      const { user } = vhost.endpoint
      const asking = opened()
      const source = 'w'.repeat(120)
      const routingKey = `${'k'.repeat(150)}.a`
      const bindings = [{ source, destination: 'first', destinationKind: 'queue', routingKey, arguments: {} }] as const
      await asking.declareExchange(topic(source))
      await asking.declareQueues([durable('first')])
      await vhost.manage('PUT', `/api/topic-permissions/${vhost.vhost}/${user}`, {
        exchange: source,
        write: '.*',
        read: '^never',
      })
      const object = `topic '${routingKey}' in exchange '${source}'`
      const tries = [
        async () => asking.tryRights({ queues: [], exchanges: [], bindings }),
        async () => asking.bind(bindings),
      ]
      for (const refused of tries) {
        const error = await errorOf(refused())
        expect([error?.code, error?.message.split(' in vhost')[0], error?.suggestions]).toEqual([
          'FORBIDDEN',
          `user ${user} has no ${line === '3' ? 'sufficient' : 'read'} permission on ${object}`,
          [
            `rabbitmqctl list_topic_permissions -p ${vhost.vhost}`,
            `rabbitmqctl set_topic_permissions -p ${vhost.vhost} ${user} ${source} '.*' '.*'`,
          ],
        ])
      }
    })

    test('where RabbitMQ closes the connection instead of answering', async () => {
      type Asked = Parameters<BrokerControl['lackedPermission']>[0]
      const only = (...names: readonly string[]): Asked => ({
        queues: names.map(durable),
        exchanges: [],
        bindings: [],
        holding: [],
      })
      const closing = 'очередь'.repeat(17)
      await allow('^(?!upload$)', '.*', '.*')
      const asking = opened()
      const upload = { lacked: { right: 'configure', object: "queue 'upload'" }, unanswered: [] }
      expect(await asking.lackedPermission(only(closing, 'upload'))).toEqual(upload)
      expect(await asking.lackedPermission(only('upload', closing))).toEqual(upload)
      const many = Array.from({ length: 19 }, (_, index) => `${closing}${index}`)
      expect(await asking.lackedPermission(only(...many, 'upload'))).toEqual(upload)
      const configure = `^(?!${cyrillic}$|x${cyrillic}$|upload$)`
      await allow(configure, '.*', '.*')
      const configured = { right: 'configure', object: `queue '${cyrillic}'` } as const
      const read = { right: 'read', object: `queue '${cyrillic}'` } as const
      // 3 cuts between the bytes of a letter; 4.3 then closes the connection, whatever the reason of the refusal
      const told =
        line === '3' ? { lacked: configured, unanswered: [] } : { lacked: null, unanswered: [configured, read] }
      const none = { lacked: null, unanswered: [] }
      // one question does not take the answer from others
      const side = await Promise.all(
        Array.from({ length: 10 }, async (_, index) =>
          asking.lackedPermission(only(index % 2 === 0 ? cyrillic : 'granted')),
        ),
      )
      expect(side).toEqual(side.map((_, index) => (index % 2 === 0 ? told : none)))
      // what exists is tried again before anything is changed, by requests that 4.3 answers if the right is there
      await allow('.*', '.*', '.*')
      const exchange = topic(`x${cyrillic}`)
      const all = {
        ...only('granted', cyrillic),
        exchanges: [exchange],
        bindings: [
          {
            source: exchange.name,
            destination: cyrillic,
            destinationKind: 'queue',
            routingKey: cyrillic,
            arguments: {},
          },
        ],
      } as const
      await asking.declareQueues(all.queues)
      await asking.declareExchange(exchange)
      const tried = async (asked: Asked): Promise<unknown> =>
        asking.tryRights(asked).catch((error: AdminError) => [error.code, error.message.split(' in vhost')[0]])
      expect(await tried(all)).toEqual(line === '3' ? [] : [read])
      await allow(configure, '.*', '.*')
      const configuredToo = { right: 'configure', object: `exchange 'x${cyrillic}'` }
      const lacking = (start: string): unknown => [
        'FORBIDDEN',
        expect.stringMatching(
          `^user ${vhost.endpoint.user} has no sufficient permission on ${start}о+\\.\\.\\.'$`,
        ) as string,
      ]
      expect(await tried(all)).toEqual(line === '3' ? lacking("queue '") : [configured, read, configuredToo])
      const ofExchange = { ...only(), exchanges: [exchange] }
      expect(await tried(ofExchange)).toEqual(line === '3' ? lacking("exchange 'x") : [configuredToo])
      await allow('.*', `^(?!${cyrillic}$)`, '.*')
      const bound = { ...only(), bindings: all.bindings }
      expect(await tried(bound)).toEqual(
        line === '3'
          ? lacking("queue '")
          : [
              { right: 'write', object: `queue '${cyrillic}'` },
              { right: 'read', object: `exchange 'x${cyrillic}'` },
              {
                right: 'read',
                object: `topic '${cyrillic}' in exchange 'x${cyrillic}'`,
                topicOf: `x${cyrillic}`,
              },
            ],
      )
    })
  })

  test('what the broker does not take is refused, and the rest goes on', async () => {
    const control = opened()
    const refusal = async (of: Partial<QueueDeclaration>): Promise<string | null> =>
      failureOf(control.declareQueues([durable('a'), { ...durable('q'), ...of }]))
    const start =
      `REFUSED RabbitMQ at ${vhost.endpoint.host}:${vhost.endpoint.port} refuses an operation in vhost ` +
      `${vhost.vhost} (declaring `
    expect(await refusal({ arguments: { 'x-max-length': -1 } })).toBe(
      `${start}queue q): invalid arg 'x-max-length' for queue 'q' in vhost '${vhost.vhost}': {value_negative,-1}`,
    )
    expect(await refusal({ name: 'amq.q' })).toBe(
      `${start}queue amq.q): queue name 'amq.q' contains reserved prefix 'amq.*'`,
    )
    expect(await refusal({ autoDelete: true, arguments: { 'x-queue-type': 'quorum' } })).toBe(
      `${start}queue q): invalid property 'auto-delete' for queue 'q' in vhost '${vhost.vhost}'`,
    )
    expect(await refusal({ name: '' })).toBe('REFUSED a queue without a name cannot be declared')
    const exchange = {
      name: 'e',
      type: 'x-of-a-plugin',
      durable: true,
      autoDelete: false,
      internal: false,
      arguments: {},
    }
    expect(await failureOf(control.declareExchange(exchange))).toBe(
      `${start}exchange e): unknown exchange type 'x-of-a-plugin'`,
    )
    expect(await control.declareExchange({ ...exchange, type: 'topic' })).toBe('declared')
    expect(await queues()).toEqual(['a'])
  })

  test('a queue that the broker does not guard is guarded by its counts alone', async () => {
    const control = opened()
    const quorum = ['q1', 'q2', 'q3'].map((name) => ({ ...durable(name), arguments: { 'x-queue-type': 'quorum' } }))
    const all = [...quorum, durable('c1'), durable('c2')]
    await control.declareQueues(all)
    const client = await connected()
    const channel = await client.createConfirmChannel()
    for (const queue of ['q2', 'c2']) channel.sendToQueue(queue, Buffer.from('x'))
    await channel.waitForConfirms()
    await channel.consume('q3', () => undefined)
    expect(Object.fromEntries(await control.deleteQueues(all.map(({ name }) => ({ name, most: 0 }))))).toEqual({
      q1: 'deleted',
      q2: 'in-use',
      q3: 'in-use',
      c1: 'deleted',
      c2: 'in-use',
    })
    expect(await queues()).toEqual(['c2', 'q2', 'q3'])
  })

  test("another connection's own queue", async () => {
    const client = await connected()
    await (await client.createChannel()).assertQueue('own', { exclusive: true, durable: false })
    const control = opened()
    expect([...(await control.declareQueues([durable('own')]))]).toEqual([['own', 'otherwise']])
    expect(await failureOf(control.deleteQueue('own', { most: 0 }))).toMatch(
      /^REFUSED .* \(deleting queue own\): cannot obtain exclusive access/,
    )
    const { source, close } = await openBroker(vhost.endpoint, { timeoutMs: 10_000 })
    onTestFinished(close)
    expect(await failureOf(source.counts(['own']))).toMatch(
      /^REFUSED .* \(counting queue own\): cannot obtain exclusive access/,
    )
  })

  test('a binding in any width that a client may have given its numbers', async () => {
    const control = opened()
    await control.declareQueues([durable('q')])
    await control.declareExchange({
      name: 'h',
      type: 'headers',
      durable: true,
      autoDelete: false,
      internal: false,
      arguments: {},
    })
    const client = await connected()
    const channel = await client.createChannel()
    for (const type of ['int8', 'int16', 'int32', 'int64'])
      await channel.bindQueue('q', 'h', '', { 'x-match': 'all', n: { '!': type, value: 5 } })
    const { source, close } = await openBroker(vhost.endpoint, { timeoutMs: 10_000 })
    onTestFinished(close)
    expect((await source.bindings()).length).toBe(4)
    await control.unbind([
      {
        source: 'h',
        destination: 'q',
        destinationKind: 'queue',
        routingKey: '',
        arguments: { 'x-match': 'all', n: 5 },
      },
    ])
    expect(await source.bindings()).toEqual([])
  })

  test('a connection that breaks is opened again by the next call', async () => {
    const { host, port } = vhost.endpoint
    const proxy = await cuttableProxy(() => connect({ host, port }))
    const control = opened({ host: '127.0.0.1', port: proxy.port }, 2000)
    await control.declareQueues([durable('a')])
    const names = Array.from({ length: 200 }, (_, index) => durable(`q${index}`))
    const declaring = control.declareQueues(names)
    proxy.cut()
    expect((await errorOf(declaring))?.code).toBe('UNREACHABLE')
    expect(await failureOf(control.declareQueues(names))).toMatch(handshakeCut)
    const direct = opened()
    await direct.declareQueues([durable('a')])
    for (const { name } of (await vhost.manage('GET', `/api/vhosts/${vhost.vhost}/connections?columns=name`)) as {
      name: string
    }[])
      await vhost.manage('DELETE', `/api/connections/${encodeURIComponent(name)}`)
    expect(await direct.deleteQueue('a', { most: 0 })).toBe('deleted')
  })

  test('a broker that does not answer any more', async () => {
    const { host, port } = vhost.endpoint
    const proxy = await cuttableProxy(() => connect({ host, port }))
    const control = opened({ host: '127.0.0.1', port: proxy.port }, 500)
    await control.declareQueues([durable('a')])
    proxy.stall()
    expect(await failureOf(control.declareQueues([durable('b')]))).toMatch(
      /^TIMED_OUT RabbitMQ at \S+, vhost \S+ .* within 0\.5 s$/,
    )
  })

  test('what was kept open and is lost is told once', async () => {
    const { host, port } = vhost.endpoint
    const proxy = await cuttableProxy(() => connect({ host, port }))
    const control = opened({ host: '127.0.0.1', port: proxy.port }, 2000)
    await control.declareQueues([{ ...durable('kept'), autoDelete: true }])
    await control.keep(['kept'])
    proxy.cut()
    const told = async (): Promise<string | null> => failureOf(control.purge('kept'))
    await expect
      .poll(told, { timeout: 5000 })
      .toMatch(
        new RegExp(
          String.raw`^UNREACHABLE RabbitMQ at \S+, vhost \S+ closed the connection. ` +
            'RabbitMQ deletes auto-delete queues when their last consumer leaves, so these queues may be gone: kept$',
        ),
      )
    expect(await told()).toMatch(handshakeCut)
    expect([...control.kept()]).toEqual([])
  })
})

test.each(['disable', 'require'] as const)('a close ends what is being opened, with TLS: %s', async (mode) => {
  const vhost = await freshVhost('3')
  onTestFinished(async () => vhost.cleanup())
  const port = await silentPeer()
  const tls = { mode, ca: null }
  const { source, close } = openBrokerControl({ ...vhost.endpoint, port, tls }, { timeoutMs: 60_000 })
  const asked = failureOf(source.declareQueues([durable('q')]))
  await sleep(200)
  await close()
  expect(await asked).toMatch(/^INTERRUPTED gave up connecting to RabbitMQ at /)
  expect(await failureOf(source.declareQueues([durable('q')]))).toMatch(/^INTERRUPTED /)
})

test('where nothing listens', async () => {
  const vhost = await freshVhost('3')
  onTestFinished(async () => vhost.cleanup())
  const port = await closedPort()
  const { source, close } = openBrokerControl({ ...vhost.endpoint, port }, { timeoutMs: 1000 })
  onTestFinished(close)
  expect(await failureOf(source.declareQueues([durable('q')]))).toMatch(
    /^UNREACHABLE RabbitMQ at \S+, vhost \S+ refused the connection/,
  )
  expect(await failureOf(source.keep(['q']))).toMatch(/^UNREACHABLE /)
  expect(await failureOf(source.mover())).toMatch(/^UNREACHABLE /)
  expect(await source.declareQueues([])).toEqual(new Map())
})

/** The proxy accepts a connection and closes it. */
const handshakeCut = /^UNREACHABLE the server at 127\.0\.0\.1:\d+ closed the connection during the handshake\. /

function durable(name: string): QueueDeclaration {
  return { name, durable: true, autoDelete: false, arguments: {} }
}

function topic(name: string): ExchangeDeclaration {
  return { name, type: 'topic', durable: true, autoDelete: false, internal: false, arguments: {} }
}
