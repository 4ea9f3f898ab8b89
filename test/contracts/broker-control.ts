import { expect, test } from 'vitest'
import type { Binding, BrokerControl, ExchangeDeclaration, QueueDeclaration } from '../../src/core/broker-control.ts'
import type { BrokerSource } from '../../src/core/sources.ts'
import { failureOf } from '../adapters/failure-of.ts'

export interface OpenedControl {
  control: BrokerControl
  source: BrokerSource
  /** messages that are ready in a queue */
  fill: (queue: string, messages: number) => Promise<void>
  /** a consumer that holds nothing back; it goes with `leave` */
  consume: (queue: string) => Promise<{ leave: () => Promise<void> }>
  close: () => Promise<void>
}

/**
 * What every control of a virtual host keeps, on one that is empty. Two lines of brokers differ in what they think of
 * transient queues.
 */
export function brokerControlContract(open: () => Promise<OpenedControl>, line: '3' | '4.3'): void {
  const on = async (work: (opened: OpenedControl) => Promise<void>): Promise<void> => {
    const opened = await open()
    try {
      await work(opened)
    } finally {
      await opened.close()
    }
  }
  const counts = async ({ source }: OpenedControl, ...names: string[]): Promise<unknown> =>
    Object.fromEntries(await source.counts(names))

  test('tries rights, and changes nothing', async () =>
    on(async (opened) => {
      const { control, source, fill, consume } = opened
      const queues = ['some', 'read', 'empty'].map((name) => declaration({ name }))
      const work: ExchangeDeclaration = {
        name: 'work',
        type: 'topic',
        durable: true,
        autoDelete: false,
        internal: false,
        arguments: {},
      }
      await control.declareQueues(queues)
      await control.declareExchange(work)
      // it takes whatever is really published as a dead letter
      const dead = { ...work, name: 'dead' }
      await control.declareExchange(dead)
      await control.bind([
        { source: 'dead', destination: 'empty', destinationKind: 'queue', routingKey: '#', arguments: {} },
      ])
      await fill('some', 3)
      await consume('read')
      const all = async (): Promise<unknown> => [
        await counts(opened, 'some', 'read', 'empty'),
        (await source.queues()).length,
        await source.bindings(),
      ]
      const before = await all()
      const tried = await control.tryRights({
        queues,
        exchanges: [work],
        bindings: [{ source: 'work', destination: 'some', destinationKind: 'queue', routingKey: 'x', arguments: {} }],
      })
      expect(tried).toEqual([])
      expect(await control.tryRights({ queues, exchanges: [work], bindings: [], discards: true })).toEqual([])
      const letters = declaration({ name: 'letters', arguments: { 'x-dead-letter-exchange': 'dead' } })
      const of = { queues: [...queues, letters], exchanges: [work, dead], bindings: [], holding: ['held'] }
      const none = { lacked: null, unanswered: [] }
      expect(await control.lackedPermission(of)).toEqual(none)
      expect(await control.lackedPermission({ ...of, discards: true })).toEqual(none)
      expect([before, await all()]).toEqual([
        [
          { some: { ready: 3, consumers: 0 }, read: { ready: 0, consumers: 1 }, empty: { ready: 0, consumers: 0 } },
          3,
          [{ source: 'dead', destination: 'empty', destinationKind: 'queue', routingKey: '#', arguments: {} }],
        ],
        before,
      ])
    }))

  test('declares queues as told, and again without harm', async () =>
    on(async ({ control, source }) => {
      const told = [
        declaration({ name: 'plain' }),
        declaration({ name: 'passing ü/%', autoDelete: true, arguments: { 'x-expires': 3_600_000 } }),
        declaration({
          name: 'rich',
          arguments: { 'x-max-priority': 7, 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'plain' },
        }),
      ]
      for (const again of [false, true]) {
        expect([...(await control.declareQueues(told))], `again: ${again}`).toEqual(
          told.map(({ name }) => [name, 'declared']),
        )
      }
      const found = (await source.queues()).map(
        ({ name, durable, autoDelete, arguments: { 'x-queue-type': _, ...given } }) => ({
          name,
          durable,
          autoDelete,
          arguments: given,
        }),
      )
      expect(byName(found)).toEqual(byName(told))
      expect(await control.declareQueues([])).toEqual(new Map())
    }))

  test('leaves a queue alone that is there with other properties', async () =>
    on(async ({ control, source }) => {
      await control.declareQueues([declaration({ name: 'q' })])
      const others = [
        declaration({ name: 'q', durable: false }),
        declaration({ name: 'q', autoDelete: true }),
        declaration({ name: 'q', arguments: { 'x-max-length': 5 } }),
      ]
      for (const other of others)
        expect([...(await control.declareQueues([other, declaration({ name: 'r' })]))]).toEqual([
          ['q', 'otherwise'],
          ['r', 'declared'],
        ])
      expect(byName(await source.queues()).map(({ name, durable, autoDelete }) => [name, durable, autoDelete])).toEqual(
        [
          ['q', true, false],
          ['r', true, false],
        ],
      )
    }))

  test('declares transient queues where the broker takes them', async () =>
    on(async ({ control, source }) => {
      const told = control.declareQueues([declaration({ name: 'a' }), declaration({ name: 't', durable: false })])
      if (line === '3') {
        expect(Object.fromEntries(await told)).toEqual({ a: 'declared', t: 'declared' })
        expect(byName(await source.queues()).map(({ name, durable }) => [name, durable])).toEqual([
          ['a', true],
          ['t', false],
        ])
      } else {
        expect(await failureOf(told)).toMatch(
          /^REFUSED RabbitMQ at \S+ denies transient queues \(transient_nonexcl_queues\): declaring queue t$/,
        )
        // what is asked next goes on
        expect(Object.fromEntries(await control.declareQueues([declaration({ name: 'a' })]))).toEqual({ a: 'declared' })
      }
    }))

  test('counts at once, and deletes no queue that holds more or has a consumer', async () =>
    on(async (opened) => {
      const { control, fill, consume } = opened
      await control.declareQueues(['empty', 'some', 'read'].map((name) => declaration({ name })))
      await fill('some', 3)
      const { leave } = await consume('read')
      expect(await counts(opened, 'empty', 'some', 'read', 'gone')).toEqual({
        empty: { ready: 0, consumers: 0 },
        some: { ready: 3, consumers: 0 },
        read: { ready: 0, consumers: 1 },
        gone: null,
      })
      const all = ['empty', 'some', 'read', 'gone'].map((name) => ({ name, most: name === 'some' ? 2 : 0 }))
      expect(Object.fromEntries(await control.deleteQueues(all))).toEqual({
        empty: 'deleted',
        some: 'in-use',
        read: 'in-use',
        gone: 'missing',
      })
      expect(await control.deleteQueue('some', { most: 3 })).toBe('deleted')
      await leave()
      expect(await control.deleteQueue('read', { most: 0 })).toBe('deleted')
      expect(await control.deleteQueue('read', { most: 0 })).toBe('missing')
      expect(await counts(opened, 'empty', 'some', 'read')).toEqual({ empty: null, some: null, read: null })
    }))

  test('declares and deletes exchanges', async () =>
    on(async ({ control, source }) => {
      const told = [
        exchangeOf({ name: 'e', type: 'topic' }),
        exchangeOf({ name: 'f', type: 'fanout', durable: false, internal: true }),
        exchangeOf({ name: 'g', type: 'headers', autoDelete: true, arguments: { 'alternate-exchange': 'f' } }),
      ]
      for (const it of [...told, ...told]) expect(await control.declareExchange(it)).toBe('declared')
      expect(await control.declareExchange(exchangeOf({ name: 'e', type: 'direct' }))).toBe('otherwise')
      expect(await control.declareExchange(exchangeOf({ name: 'e', type: 'topic', durable: false }))).toBe('otherwise')
      expect(byName(await source.exchanges())).toEqual(told.map((it) => ({ ...it, vhost: source.vhost })))
      await control.deleteExchange('f')
      await control.deleteExchange('f')
      expect((await source.exchanges()).map(({ name }) => name).sort()).toEqual(['e', 'g'])
    }))

  test('binds and unbinds queues and exchanges', async () =>
    on(async ({ control, source }) => {
      await control.declareQueues([declaration({ name: 'q' })])
      for (const name of ['e', 'f']) await control.declareExchange(exchangeOf({ name, type: 'headers' }))
      const told = [
        bindingOf({ source: 'e', destination: 'q', routingKey: 'a.#' }),
        bindingOf({ source: 'e', destination: 'q', routingKey: 'ü/%' }),
        bindingOf({
          source: 'e',
          destination: 'f',
          destinationKind: 'exchange',
          arguments: { 'x-match': 'all', size: 7, big: 5_000_000_000, kind: 'x' },
        }),
        bindingOf({ source: 'f', destination: 'q', arguments: { 'x-match': 'any', deep: { n: 1 }, list: [1, 'two'] } }),
      ]
      await control.bind(told)
      await control.bind(told)
      expect(sorted(await source.bindings())).toEqual(sorted(told))
      const [first, second, third, last] = told as [Binding, Binding, Binding, Binding]
      await control.unbind([first, third])
      await control.unbind([first, third])
      expect(sorted(await source.bindings())).toEqual(sorted([second, last]))
      // its bindings go with an exchange
      await control.deleteExchange('f')
      expect(await source.bindings()).toEqual([second])
    }))

  test('refuses to bind what is not there', async () =>
    on(async ({ control }) => {
      await control.declareQueues([declaration({ name: 'q' })])
      await control.declareExchange(exchangeOf({ name: 'e' }))
      expect(await failureOf(control.bind([bindingOf({ source: 'gone', destination: 'q', routingKey: 'k' })]))).toMatch(
        new RegExp(
          String.raw`^REFUSED RabbitMQ at \S+ refuses an operation in vhost \S+ ` +
            String.raw`\(binding queue q to exchange gone with key k\): no exchange 'gone' in vhost '\S+'$`,
        ),
      )
      expect(await failureOf(control.bind([bindingOf({ source: 'e', destination: 'gone' })]))).toMatch(
        new RegExp(
          String.raw`^REFUSED RabbitMQ at \S+ refuses an operation in vhost \S+ ` +
            String.raw`\(binding queue gone to exchange e\): no queue 'gone' in vhost '\S+'$`,
        ),
      )
      await control.unbind([
        bindingOf({ source: 'gone', destination: 'q' }),
        bindingOf({ source: 'e', destination: 'gone' }),
      ])
    }))

  test('empties a queue', async () =>
    on(async (opened) => {
      const { control, fill } = opened
      await control.declareQueues([declaration({ name: 'q' })])
      await fill('q', 5)
      expect([await control.purge('q'), await control.purge('q'), await control.purge('gone')]).toEqual([5, 0, 0])
      expect(await counts(opened, 'q')).toEqual({ q: { ready: 0, consumers: 0 } })
    }))

  test('moves messages aside and back', async () =>
    on(async (opened) => {
      const { control, fill } = opened
      await control.declareQueues(['from', 'to'].map((name) => declaration({ name })))
      await fill('from', 5)
      const mover = await control.mover()
      const none = { perhapsTwice: 0, othersIds: 0, leftOut: 0, again: 0 }
      const attempt = '00112233aabbccdd'
      const contents = { [attempt]: { count: 5, last: 5, digest: expect.any(String) as string } }
      const went = await mover.aside({ from: 'from', to: 'held', attempt })
      expect(went).toEqual({ moved: 5, contents, ...none })
      expect(await mover.aside({ from: 'from', to: 'held' })).toEqual({ moved: 0, contents: {}, ...none })
      expect(await counts(opened, 'from', 'held')).toEqual({
        from: { ready: 0, consumers: 0 },
        held: { ready: 5, consumers: 0 },
      })
      expect(await (await control.mover()).back({ from: 'held', to: 'to' })).toEqual(went)
      expect(await counts(opened, 'held', 'to')).toEqual({
        held: { ready: 0, consumers: 0 },
        to: { ready: 5, consumers: 0 },
      })
      expect((await failureOf(mover.back({ from: 'held', to: 'gone' })))?.split(' ')[0]).toBe('REFUSED')
    }))

  test('keeps a queue that would vanish with its last consumer', async () =>
    on(async (opened) => {
      const { control, source, consume, fill } = opened
      await control.declareQueues([
        declaration({ name: 'kept', autoDelete: true }),
        declaration({ name: 'other', autoDelete: true }),
      ])
      const consumers = [await consume('kept'), await consume('other')]
      await control.keep(['kept', 'gone'])
      expect([...control.kept()]).toEqual(['kept'])
      for (const { leave } of consumers) await leave()
      expect(await counts(opened, 'kept', 'other')).toEqual({ kept: { ready: 0, consumers: 1 }, other: null })
      expect(await control.deleteQueue('kept', { most: 0 })).toBe('in-use')
      await fill('kept', 2)
      // the first of them may be with the consumer that keeps it
      const all = async (): Promise<number> =>
        ((await source.counts(['kept'])).get('kept')?.ready ?? 0) + (await control.heldBack('kept'))
      await expect.poll(all, { timeout: 5000 }).toBe(2)
      expect(await control.heldBack('other')).toBe(0)
      await control.release('kept')
      expect([...control.kept()]).toEqual([])
      await expect.poll(async () => counts(opened, 'kept'), { timeout: 5000 }).toEqual({ kept: null })
      await control.release('kept')
    }))
}

function declaration(of: Partial<QueueDeclaration> & { name: string }): QueueDeclaration {
  return { durable: true, autoDelete: false, arguments: {}, ...of }
}

function exchangeOf(of: Partial<ExchangeDeclaration> & { name: string }): ExchangeDeclaration {
  return { type: 'direct', durable: true, autoDelete: false, internal: false, arguments: {}, ...of }
}

function bindingOf(of: Partial<Binding> & { source: string; destination: string }): Binding {
  return { destinationKind: 'queue', routingKey: '', arguments: {}, ...of }
}

function byName<T extends { name: string }>(all: readonly T[]): T[] {
  return [...all].sort((a, b) => a.name.localeCompare(b.name))
}

/** Without the broker's own keys, which are its own for bindings with arguments. */
function sorted(bindings: readonly Binding[]): Binding[] {
  const key = ({ source, destination, routingKey }: Binding): string => [source, destination, routingKey].join(' ')
  return bindings.map(({ key: _, ...rest }) => rest).sort((a, b) => key(a).localeCompare(key(b)))
}
