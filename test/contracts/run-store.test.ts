import { connect } from 'node:net'
import amqp from 'amqplib'
import { describe, expect, test } from 'vitest'
import { openRunStore } from '../../src/adapters/rabbitmq/run-store.ts'
import type { Opened } from '../../src/core/endpoint.ts'
import type { RunStore } from '../../src/core/run.ts'
import { beginJournal } from '../../src/engine/journal.ts'
import { failureOf } from '../adapters/failure-of.ts'
import { cuttableProxy } from '../adapters/peers.ts'
import { eventOf, recordOf, run, told } from '../engine/repairing.ts'
import { fakeRunStore } from '../fakes/index.ts'
import { freshVhost } from '../servers/index.ts'
import type { FreshVhost } from '../servers/index.ts'
import { runStoreContract } from './run-store.ts'

const queue = `testops-admin.run.${run}`

async function open(
  line: '3' | '4.3',
): Promise<{ vhost: FreshVhost; store: RunStore; again: () => Promise<RunStore>; close: () => Promise<void> }> {
  const vhost = await freshVhost(line)
  const opened: Opened<RunStore>[] = []
  const again = async (): Promise<RunStore> => {
    const one = await openRunStore(vhost.endpoint, { timeoutMs: 20_000 })
    opened.push(one)
    return one.source
  }
  return {
    vhost,
    store: await again(),
    again,
    async close() {
      for (const one of opened) await one.close()
      await vhost.cleanup()
    },
  }
}

describe.each(['3', '4.3'] as const)('journals in RabbitMQ %s', (line) => {
  runStoreContract(async () => open(line))

  test('its queue is durable, and of the kind that drops nothing that was read often', async () => {
    const { vhost, store, close } = await open(line)
    await (await store.begin(recordOf())).close()
    expect(await vhost.manage('GET', `/api/queues/${vhost.vhost}/${queue}`)).toMatchObject({
      durable: true,
      auto_delete: false,
      exclusive: false,
      type: 'classic',
    })
    await close()
  })

  test('a connection that is cut is made again, and nothing is lost or told twice', async () => {
    const { vhost, store, close } = await open(line)
    const here = fakeRunStore()
    const journal = await beginJournal({ here, there: async () => store }, recordOf(), {
      by: 'op@bastion',
      failpoint: async () => undefined,
    })
    await journal.append(eventOf({ event: 'intent', step: 0 }))
    await cut(vhost)
    await journal.append(eventOf({ event: 'done', step: 0, durationMs: 1 }))
    await journal.append(eventOf({ event: 'intent', step: 1 }))
    expect(journal.onlyHere).toBeNull()
    expect(told(await store.read(run))).toEqual(['copied', 'intent 0', 'done 0', 'intent 1'])
    await journal.close(true)
    expect(await failureOf(store.read(run))).toMatch(/^USAGE no run/)
    await close()
  })

  test.each(['cut', 'stall'] as const)(
    'a way to it that is %s while it is closed keeps nobody waiting',
    async (how) => {
      const { vhost, close } = await open(line)
      const { host, port } = vhost.endpoint
      const proxy = await cuttableProxy(() => connect({ host, port }))
      const behind = await openRunStore(
        { ...vhost.endpoint, host: '127.0.0.1', port: proxy.port },
        { timeoutMs: 20_000 },
      )
      const log = await behind.source.begin(recordOf())
      proxy.stall()
      const closing = Promise.all([log.close(), behind.close()])
      if (how === 'cut') proxy.cut()
      await closing
      await close()
    },
  )

  test('what reaches it late, and was written again meanwhile, is told once and in its place', async () => {
    const { vhost, store, close } = await open(line)
    const events = [
      eventOf({ event: 'copied' }),
      eventOf({ event: 'intent', step: 0 }, 1),
      eventOf({ event: 'intent', step: 1 }, 2),
    ]
    const log = await store.begin(recordOf(), events)
    const connection = await amqp.connect(vhost.url)
    const channel = await connection.createConfirmChannel()
    // as a broker takes it from a connection that was blocked when it was given up
    for (const place of [2, 3])
      channel.sendToQueue(queue, Buffer.from(JSON.stringify(events[place - 1])), { messageId: String(place) })
    await channel.waitForConfirms()
    await connection.close()
    await log.close()
    const again = await store.reopen(run)
    await again.append(eventOf({ event: 'intent', step: 2 }, 3))
    expect(told(await store.read(run))).toEqual(['copied', 'intent 0', 'intent 1', 'intent 2'])
    await close()
  })

  test('what the broker confirms and puts nowhere is no success', async () => {
    const { vhost, store, close } = await open(line)
    const log = await store.begin(recordOf())
    await vhost.manage('DELETE', `/api/queues/${vhost.vhost}/${queue}`)
    expect(await failureOf(log.append(eventOf({ event: 'copied' })))).toMatch(
      /^USAGE queue testops-admin\.run\..* is gone$/,
    )
    await close()
  })

  test('what is not a journal is named, with where to look', async () => {
    const { vhost, store, close } = await open(line)
    const connection = await amqp.connect(vhost.url)
    const channel = await connection.createConfirmChannel()
    await channel.assertQueue(queue, { durable: true })
    expect(await failureOf(store.read(run))).toBe(
      `REFUSED queue ${queue} at ${store.where.replace(/: queue .*/, '')} is empty, because the run \`${run}\` ` +
        'stopped before it changed anything',
    )
    expect(await store.list()).toMatchObject([{ run, isEmpty: true }])
    channel.sendToQueue(queue, Buffer.from('hello'))
    await channel.waitForConfirms()
    await connection.close()
    await expect(store.read(run)).rejects.toMatchObject({
      code: 'UNEXPECTED_ANSWER',
      message: expect.stringMatching(
        /^the saved record of run .* in queue testops-admin\.run\..* is damaged: record is not an object$/,
      ) as string,
      suggestions: [expect.stringMatching(/^rabbitmqctl -p test-\w+ list_queues name messages/)],
    })
    await close()
  })

  test('a journal that is huge takes no room from the others', async () => {
    const { vhost, store, close } = await open(line)
    await (await store.begin(recordOf())).close()
    const connection = await amqp.connect(vhost.url)
    const channel = await connection.createConfirmChannel()
    const planted = run.replace('1f3a', '0000')
    await channel.assertQueue(`testops-admin.run.${planted}`, {
      durable: true,
      arguments: { 'x-queue-type': 'classic' },
    })
    for (let sent = 0; sent < 34; sent += 1)
      channel.sendToQueue(`testops-admin.run.${planted}`, Buffer.alloc(1024 * 1024, '{'))
    await channel.waitForConfirms()
    await connection.close()
    expect(await store.list()).toMatchObject([
      {
        run: planted,
        unreadable: expect.stringMatching(
          /is too large: at most 64 MiB of saved records are read, shared equally among all runs$/,
        ) as string,
      },
      { record: { run } },
    ])
    await close()
  })
})

/** Every connection of that user's, as a network does it that goes away. */
async function cut(fresh: FreshVhost): Promise<void> {
  await expect
    .poll(async () => (await fresh.manage('GET', `/api/vhosts/${fresh.vhost}/connections`)) as unknown[], {
      timeout: 20_000,
      interval: 500,
    })
    .not.toEqual([])
  for (const { name } of (await fresh.manage('GET', `/api/vhosts/${fresh.vhost}/connections`)) as { name: string }[])
    await fresh.manage('DELETE', `/api/connections/${encodeURIComponent(name)}`)
}
