import { describe, expect, test } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair.ts'
import { startBroker } from '../../servers/index.ts'
import { inner } from '../../support/campaign.ts'
import { withOwn } from './own-broker.ts'
import type { QueueDeployment } from './own-broker.ts'
import { wire } from './wire.ts'
import type { WireTable } from './wire.ts'

/** What AMQP 0-9-1 has types for, and the management API shows without them. */
const typed: Readonly<Record<string, unknown>> = {
  text: 'a',
  'a text that looks like nothing': 'undefined',
  nothing: null,
  bytes: Buffer.from('a'),
  'bytes that are no text': Buffer.from([0xff, 0xfe]),
  'a byte': { '!': 'int8', value: 5 },
  'a short': { '!': 'int16', value: 5 },
  'an int': { '!': 'int32', value: 5 },
  'a long': { '!': 'int64', value: 5 },
  'a long that fits no int': { '!': 'int64', value: 5_000_000_000 },
  'an unsigned int': { '!': 'uint32', value: 5 },
  'a time': { '!': 'timestamp', value: 5 },
  'a double': { '!': 'double', value: 5.5 },
  'a float': { '!': 'float', value: 5.5 },
  'a whole double': { '!': 'double', value: 5 },
  true: true,
  'a negative int': { '!': 'int32', value: -5_000_000 },
  'an unsigned byte': { '!': 'uint8', value: 5 },
  'an unsigned short': { '!': 'uint16', value: 5 },
  'a decimal': { '!': 'decimal', value: { places: 3, digits: 1400 } },
  'a whole decimal': { '!': 'decimal', value: { places: 3, digits: 0 } },
  'a table': { a: 'b', n: { '!': 'int64', value: 7 } },
  'a table in no order': { z: 'b', n: { y: null, x: false }, a: { '!': 'float', value: 0.1 } },
  'an empty table': {},
  'a list': ['a', { '!': 'int16', value: 1 }],
  'a list of all kinds': [[], { b: null, a: [true] }, Buffer.from('x')],
}

/** No list shows what this is. */
const untellable: Readonly<Record<string, WireTable>> = {
  'a text that is not UTF-8': [['value', ['S', Buffer.from([0xff])]]],
  'a number that JSON rounds': [['value', ['l', 9_007_199_254_740_993n]]],
  'a name twice': [
    ['value', ['S', 'a']],
    ['value', ['S', 'b']],
  ],
}

/** With the key by which the broker tells types apart. */
async function bindingsOf({ vhost }: QueueDeployment): Promise<string[]> {
  const all = (await vhost.manage('GET', `/api/bindings/${vhost.vhost}`)) as Record<string, unknown>[]
  return all
    .filter((it) => it['source'] !== '')
    .map(
      (it) =>
        `${String(it['source'])} ${String(it['properties_key'])} ${String(it['destination'])} ` +
        `${JSON.stringify(it['arguments'])}`,
    )
    .sort()
}

/** Exchanges of an administrator's, bound to queues of the service: `upload` has messages, `export` has none. */
async function administrated(own: QueueDeployment): Promise<void> {
  await own.fill('upload', ['1', '2'])
  const connection = await own.connect()
  const channel = await connection.createChannel()
  await channel.assertExchange('audit', 'headers', { durable: true })
  await channel.assertExchange('mirror', 'topic', { durable: true })
  for (const queue of ['upload', 'export']) {
    await channel.bindQueue(queue, 'mirror', `${queue}.copy`)
    for (const [name, value] of Object.entries(typed))
      await channel.bindQueue(queue, 'audit', name, { 'x-match': 'all', value })
    // they look the same, and are two
    for (const type of ['int32', 'int64'])
      await channel.bindQueue(queue, 'audit', 'same', { 'x-match': 'any', value: { '!': type, value: 1 } })
  }
  await channel.bindExchange('work', 'mirror', 'all.#', { hops: { '!': 'int64', value: 3 } })
  await connection.close()
}

/** There, and back. */
async function thereAndBack(own: QueueDeployment): Promise<void> {
  await administrated(own)
  const before = await bindingsOf(own)
  const done = await own.operator.repair(['reset-queues', '--drain', '0'])
  expect({ code: done.code, bindings: await bindingsOf(own) }, done.stderr).toEqual({ code: 0, bindings: before })
  const undone = await own.operator.repair(['undo', done.json<RepairDocument>().run!])
  expect({ code: undone.code, bindings: await bindingsOf(own) }, undone.stderr).toEqual({ code: 0, bindings: before })
}

describe.concurrent('bindings of others', () => {
  test(
    'are what they were, of queues with messages and without, each once, and so after the undo',
    async () => withOwn('3', thereAndBack),
    120_000,
  )

  test('are so on RabbitMQ 4.3 as well', async () => {
    const broker = await startBroker('4.3-permitting')
    try {
      await withOwn('4.3-permitting', thereAndBack, { on: broker.server })
    } finally {
      await broker.remove()
    }
  }, 120_000)

  test.each(inner(['delete-queues:deleted', 'redeclare-queues:bound', 'start-service:started'], 1))(
    'come back where the run is killed at %s',
    async (at) => {
      await withOwn('3', async (own) => {
        await administrated(own)
        const before = await bindingsOf(own)
        await own.operator.killedAt(at, ['reset-queues', '--drain', '0'])
        const resumed = await own.operator.repair(['resume'])
        expect({ code: resumed.code, bindings: await bindingsOf(own) }, resumed.stderr).toEqual({
          code: 0,
          bindings: before,
        })
      })
    },
    120_000,
  )
})

test('a binding to a queue that came once the plan was confirmed comes back as well', async () => {
  await withOwn('3', async (own) => {
    await administrated(own)
    const begun = own.operator.begin(['reset-queues', '--drain', '0', '--confirm', 'prod', '--json'], {
      failpoint: 'stop-service:after=stop',
    })
    await begun.untilStopped()
    const connection = await own.connect()
    await (await connection.createChannel()).bindQueue('export', 'mirror', 'late')
    await connection.close()
    const before = await bindingsOf(own)
    begun.goOn()
    const ended = await begun.ended
    expect({ code: ended.code, bindings: await bindingsOf(own) }, ended.stderr).toEqual({ code: 0, bindings: before })
  })
}, 120_000)

test('bindings that came once the repair was done stay, of queues and of exchanges, where it is undone', async () => {
  await withOwn('3', async (own) => {
    await administrated(own)
    const done = await own.operator.repair(['reset-queues', '--drain', '0'])
    const connection = await own.connect()
    const channel = await connection.createChannel()
    for (const queue of ['upload', 'export'])
      await channel.bindQueue(queue, 'mirror', 'late', { value: { '!': 'uint8', value: 5 } })
    await channel.bindExchange('dead', 'mirror', 'late')
    await connection.close()
    const before = await bindingsOf(own)
    const { run } = done.json<RepairDocument>()
    await own.operator.killedAt('delete-queues:undo-intended', ['undo', run!])
    const undone = await own.operator.repair(['undo', run!])
    expect({ code: undone.code, bindings: await bindingsOf(own) }, undone.stderr).toEqual({ code: 0, bindings: before })
  })
}, 120_000)

async function bound(
  { vhost }: QueueDeployment,
  table: WireTable,
  how: 'bindQueue' | 'bindExchange' = 'bindQueue',
): Promise<void> {
  const broker = await wire(vhost.url)
  await broker.declareExchange('audit', 'headers', { durable: true })
  await (how === 'bindQueue'
    ? broker.bindQueue('export', 'audit', 'odd', table)
    : broker.bindExchange('work', 'audit', 'odd', table))
  await broker.close()
}

async function withoutOdd({ vhost }: QueueDeployment): Promise<void> {
  const all = (await vhost.manage('GET', `/api/bindings/${vhost.vhost}`)) as Record<string, string>[]
  for (const { routing_key: key, destination_type: kind, destination, properties_key: name } of all) {
    if (key === 'odd')
      await vhost.manage(
        'DELETE',
        `/api/bindings/${vhost.vhost}/e/audit/${kind === 'exchange' ? 'e' : 'q'}` +
          `/${destination}/${encodeURIComponent(name!)}`,
      )
  }
}

describe.concurrent('a binding that could not be made again', () => {
  const ways = [
    { way: 'to a queue', how: 'bindQueue', words: [] },
    { way: 'to a queue whose messages are discarded', how: 'bindQueue', words: ['--discard-messages'] },
    { way: 'to an exchange', how: 'bindExchange', words: [] },
  ] as const
  test.each(
    ways.flatMap((it, place) =>
      Object.entries(untellable)
        .filter((_, index) => index === place)
        .map(([what, table]) => ({ ...it, what, table })),
    ),
  )(
    '$way, by $what, is told before anything is done',
    async ({ how, words, table }) => {
      await withOwn('3', async (own) => {
        await own.fill('upload', ['1'])
        await bound(own, table, how)
        const [before, state, calls] = [await bindingsOf(own), await own.state(), await own.service.calls()]
        const refused = await own.operator.repair(['reset-queues', '--drain', '0', ...words])
        const dry = await own.operator.run(['reset-queues', '--dry-run', '--json', ...words])
        const { error } = refused.json<{ error: { code: string; message: string } }>()
        expect({
          codes: [refused.code, dry.code],
          error,
          bindings: await bindingsOf(own),
          state: await own.state(),
          calls: await own.service.calls(),
        }).toMatchObject({
          codes: [4, 4],
          error: {
            code: 'REFUSED',
            message: expect.stringMatching(
              new RegExp(
                '^the repair cannot restore the binding of (queue export|exchange work) to exchange audit exactly: ' +
                  String.raw`the types of the binding's arguments \(value\) are unknown`,
              ),
            ) as string,
          },
          bindings: before,
          state,
          calls,
        })
      })
    },
    120_000,
  )

  test.each(['move-messages:before', 'switch-exchanges:before'])(
    'and comes while the repair is at %s, stops it before anything is deleted; it goes on without',
    async (at) => {
      await withOwn('3', async (own) => {
        await administrated(own)
        const before = (await bindingsOf(own)).filter((it) => !it.includes(' odd~'))
        const begun = own.operator.begin(['reset-queues', '--drain', '0', '--confirm', 'prod', '--json'], {
          failpoint: `${at}=stop`,
        })
        await begun.untilStopped()
        await bound(
          own,
          untellable['a number that JSON rounds']!,
          at.startsWith('switch') ? 'bindExchange' : 'bindQueue',
        )
        const odd = (await bindingsOf(own)).filter((it) => it.includes(' odd~'))
        begun.goOn()
        const ended = await begun.ended
        expect(
          {
            code: ended.code,
            error: ended.json<RepairDocument>().error?.message,
            odd: (await bindingsOf(own)).filter((it) => it.includes(' odd~')),
          },
          ended.stderr,
        ).toEqual({
          code: 6,
          error: expect.stringMatching(
            /^the repair cannot restore the binding of .* exactly: the types of the binding's arguments .* are unknown/,
          ) as string,
          odd,
        })
        await withoutOdd(own)
        const resumed = await own.operator.repair(['resume'])
        expect({ code: resumed.code, bindings: await bindingsOf(own) }, resumed.stderr).toEqual({
          code: 0,
          bindings: before,
        })
      })
    },
    120_000,
  )
})
