import { describe, expect, test } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair-document.ts'
import { startBroker } from '../../servers/index.ts'
import { withOwn } from './own-broker.ts'
import type { QueueDeployment } from './own-broker.ts'

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
  'a table': { a: 'b', n: { '!': 'int64', value: 7 } },
  'a list': ['a', { '!': 'int16', value: 1 }],
}

/** With the key by which the broker tells types apart. */
async function bindingsOf({ vhost }: QueueDeployment): Promise<string[]> {
  const all = (await vhost.manage('GET', `/api/bindings/${vhost.vhost}`)) as Record<string, unknown>[]
  return all.filter((it) => it['source'] !== '').map((it) => `${String(it['source'])} ${String(it['properties_key'])} ${String(it['destination'])} ${JSON.stringify(it['arguments'])}`).sort()
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
    for (const [name, value] of Object.entries(typed)) await channel.bindQueue(queue, 'audit', name, { 'x-match': 'all', value })
    // they look the same, and are two
    for (const type of ['int32', 'int64']) await channel.bindQueue(queue, 'audit', 'same', { 'x-match': 'any', value: { '!': type, value: 1 } })
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
  test('are what they were, of queues with messages and without, each once, and so after the undo', async () => withOwn('3', thereAndBack), 120_000)

  test('are so on RabbitMQ 4.3 as well', async () => {
    const broker = await startBroker('4.3-permitting')
    try {
      await withOwn('4.3-permitting', thereAndBack, { on: broker.server })
    } finally {
      await broker.remove()
    }
  }, 120_000)

  test.each(['delete-queues:deleted', 'redeclare-queues:bound', 'start-service:started'])('come back where the run is killed at %s', async (at) => {
    await withOwn('3', async (own) => {
      await administrated(own)
      const before = await bindingsOf(own)
      await own.operator.killedAt(at, ['reset-queues', '--drain', '0'])
      const resumed = await own.operator.repair(['resume'])
      expect({ code: resumed.code, bindings: await bindingsOf(own) }, resumed.stderr).toEqual({ code: 0, bindings: before })
    })
  }, 120_000)
})

test('a binding to a queue that came once the plan was confirmed comes back as well', async () => {
  await withOwn('3', async (own) => {
    await administrated(own)
    const begun = own.operator.begin(['reset-queues', '--drain', '0', '--confirm', 'prod', '--json'], { failpoint: 'stop-service:after=stop' })
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
