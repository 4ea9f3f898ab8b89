import { describe, expect, onTestFinished, test } from 'vitest'
import { openMessageMover } from '../../../src/adapters/rabbitmq/messages/index.ts'
import type { MessageMover } from '../../../src/core/message-mover.ts'
import { freshVhost } from '../../servers/index.ts'
import type { FreshVhost } from '../../servers/index.ts'
import { errorOf } from '../failure-of.ts'
import { propertiesOf } from './messages.ts'
import { bodies, drainRaw, makeQueue, numbered, publishRaw, readyIn } from './raw.ts'
import { connectTo } from './reader.ts'

async function opened(line: '3' | '4.3'): Promise<{ vhost: FreshVhost; mover: MessageMover; at: string }> {
  const vhost = await freshVhost(line)
  const { source, close } = await openMessageMover(vhost.endpoint, { timeoutMs: 20_000 })
  onTestFinished(async () => {
    await close()
    await vhost.cleanup()
  })
  return { vhost, mover: source, at: `RabbitMQ at ${vhost.endpoint.host}:${vhost.endpoint.port}, vhost ${vhost.vhost}` }
}

async function refusal(work: Promise<unknown>): Promise<{ said: string; suggestions: readonly string[] }> {
  const error = await errorOf(work)
  return { said: `${error?.code} ${error?.message}`, suggestions: error?.suggestions ?? [] }
}

describe.each(['3', '4.3'] as const)('RabbitMQ %s refuses', (line) => {
  test('queues that are not there, and goes on with the next', async () => {
    const { vhost, mover, at } = await opened(line)
    await makeQueue(vhost, 'held')
    const missing = { said: '', suggestions: ['rabbitmqctl list_queues name messages consumers'] }
    expect(await refusal(mover.aside({ from: 'nope', to: 'held' }))).toEqual({
      ...missing,
      said:
        `REFUSED moving the messages of queue nope into held: ${at} refused: NOT_FOUND - no queue 'nope' in ` +
        `vhost '${vhost.vhost}'`,
    })
    expect(await refusal(mover.back({ from: 'held', to: 'nope' }))).toEqual({
      ...missing,
      said:
        `REFUSED moving the messages of queue held into nope: ${at} refused: NOT_FOUND - no queue 'nope' in ` +
        `vhost '${vhost.vhost}'`,
    })
    expect(await mover.aside({ from: 'held', to: 'other' })).toMatchObject({ moved: 0 })
  })

  test('a queue that somebody reads', async () => {
    const { vhost, mover } = await opened(line)
    await makeQueue(vhost, 'q')
    const reader = await connectTo(vhost)
    await reader.consume('q')
    expect(await refusal(mover.aside({ from: 'q', to: 'held' }))).toEqual({
      said:
        'REFUSED moving the messages of queue q into held: other consumers are reading queue q: ' +
        'stop these consumers first',
      suggestions: ['rabbitmqctl list_consumers'],
    })
  })

  test('a queue that belongs to another connection', async () => {
    const { vhost, mover, at } = await opened(line)
    const reader = await connectTo(vhost)
    await reader.declareExclusive('q')
    expect((await refusal(mover.aside({ from: 'q', to: 'held' }))).said).toMatch(
      `REFUSED moving the messages of queue q into held: ${at} refused: RESOURCE_LOCKED - cannot obtain ` +
        "exclusive access to locked queue 'q' in vhost",
    )
  })

  test('to let others read a queue while it is moved', async () => {
    const { vhost, mover } = await opened(line)
    await makeQueue(vhost, 'q')
    await publishRaw(vhost.endpoint, numbered('q', 5))
    const reader = await connectTo(vhost)
    let refused = ''
    const failpoint = async (name: string): Promise<void> => {
      if (name === 'published') refused ||= await reader.consume('q').then(() => '', String)
    }
    await mover.aside({ from: 'q', to: 'held', failpoint })
    expect(refused).toMatch(/ACCESS_REFUSED - queue 'q' in vhost .* in exclusive use/)
  })

  test('messages where the queue is full, and acknowledges those it took', async () => {
    const { vhost, mover } = await opened(line)
    await makeQueue(vhost, 'q')
    await makeQueue(vhost, 'full', { 'x-max-length': 7, 'x-overflow': 'reject-publish' })
    await publishRaw(vhost.endpoint, numbered('q', 20))
    await mover.aside({ from: 'q', to: 'held' })
    expect(await refusal(mover.back({ from: 'held', to: 'full' }))).toEqual({
      said:
        'REFUSED moving the messages of queue held into full: queue full rejected a message: the queue is full ' +
        'and set to reject new messages. Rejected messages stay where they were',
      suggestions: ['rabbitmqctl list_queues name messages arguments policy'],
    })
    expect([await readyIn(vhost.endpoint, 'held'), await readyIn(vhost.endpoint, 'full')]).toEqual([13, 7])
  })

  test('messages whose queue goes away meanwhile: they stay where they are', async () => {
    const { vhost, mover } = await opened(line)
    await makeQueue(vhost, 'q')
    const all = numbered('q', 20)
    await publishRaw(vhost.endpoint, all)
    const failpoint = async (name: string): Promise<void> => {
      if (name === 'opened') await vhost.manage('DELETE', `/api/queues/${vhost.vhost}/held`)
    }
    expect((await refusal(mover.aside({ from: 'q', to: 'held', failpoint }))).said).toBe(
      'REFUSED moving the messages of queue q into held: queue held rejected a message: NO_ROUTE. Rejected ' +
        'messages stay where they were',
    )
    expect(bodies(await drainRaw(vhost.endpoint, 'q'))).toEqual(bodies(all))
  })

  test('to go on where the queue that is emptied goes away', async () => {
    const { vhost, mover } = await opened(line)
    await makeQueue(vhost, 'q')
    await publishRaw(vhost.endpoint, numbered('q', 20))
    let isThere = true
    const failpoint = async (name: string): Promise<void> => {
      if (name === 'acked' && isThere) await vhost.manage('DELETE', `/api/queues/${vhost.vhost}/q`)
      if (name === 'acked') isThere = false
    }
    expect((await refusal(mover.aside({ from: 'q', to: 'held', failpoint }))).said).toMatch(
      // whichever the broker says first
      new RegExp(
        '^REFUSED moving the messages of queue q into held: ' +
          "(queue q was deleted, or moved to another node|.* NOT_FOUND - no queue 'q' in vhost '.*')$",
      ),
    )
  })

  test('a message that it has not put aside: it stays', async () => {
    const { vhost, mover } = await opened(line)
    for (const queue of ['q', 'foreign']) await makeQueue(vhost, queue)
    await publishRaw(vhost.endpoint, numbered('foreign', 3))
    expect(await refusal(mover.back({ from: 'foreign', to: 'q' }))).toEqual({
      said:
        'REFUSED moving the messages of queue foreign into q: queue foreign contains a message that this version ' +
        'of testops-admin did not put there. The message stays in the queue',
      suggestions: ['rabbitmqctl list_queues name messages consumers'],
    })
    expect(bodies(await drainRaw(vhost.endpoint, 'foreign'))).toEqual(['1', '2', '3'])
    expect(await readyIn(vhost.endpoint, 'q')).toBe(0)
  })

  const rights = [
    {
      what: 'may not read',
      rights: { configure: '.*', write: '.*', read: 'held' },
      said: /ACCESS_REFUSED - (read )?access to queue 'q'/,
    },
    {
      what: 'may not write',
      rights: { configure: '.*', write: 'held', read: '.*' },
      said: /ACCESS_REFUSED - (write )?access to exchange 'amq.default'/,
    },
    {
      what: 'may not declare',
      rights: { configure: 'q', write: '.*', read: '.*' },
      said: /ACCESS_REFUSED - (configure )?access to queue 'held'/,
    },
  ]
  test.each(rights)('who $what, and loses nothing', async ({ rights: given, said }) => {
    const { vhost, mover } = await opened(line)
    await makeQueue(vhost, 'q')
    const all = numbered('q', 5)
    await publishRaw(vhost.endpoint, all)
    const setRights = async (body: unknown): Promise<unknown> =>
      vhost.manage('PUT', `/api/permissions/${vhost.vhost}/${vhost.vhost}`, body)
    await setRights(given)
    const refused = await refusal(mover.aside({ from: 'q', to: 'held' }))
    expect(refused.said).toMatch(said)
    expect({ ...refused, said: refused.said.split(' ')[0] }).toEqual({
      said: 'FORBIDDEN',
      suggestions: [`rabbitmqctl list_permissions -p ${vhost.vhost}`],
    })
    await setRights({ configure: '.*', write: '.*', read: '.*' })
    expect(bodies(await drainRaw(vhost.endpoint, 'q'))).toEqual(bodies(all))
  })

  test('no message of 16 MiB, the largest that every version takes', async () => {
    const { vhost, mover } = await opened(line)
    await makeQueue(vhost, 'q')
    const body = Buffer.alloc(16_777_216, 'm')
    await publishRaw(vhost.endpoint, [{ exchange: '', routingKey: 'q', properties: propertiesOf({}), body }])
    expect(await mover.aside({ from: 'q', to: 'held' })).toMatchObject({ moved: 1 })
    expect(await mover.back({ from: 'held', to: 'q' })).toMatchObject({ moved: 1 })
    expect((await drainRaw(vhost.endpoint, 'q')).map((message) => message.body.equals(body))).toEqual([true])
  })
})

test('an interrupted move ends between two messages, with nothing twice', async () => {
  const { vhost, mover } = await opened('4.3')
  await makeQueue(vhost, 'q')
  const all = numbered('q', 5000)
  await publishRaw(vhost.endpoint, all)
  const interruption = new AbortController()
  const error = await errorOf(
    mover.aside({
      from: 'q',
      to: 'held',
      signal: interruption.signal,
      onProgress: ({ moved }) => moved > 100 && interruption.abort(),
    }),
  )
  const held = await readyIn(vhost.endpoint, 'held')
  expect(`${error?.code} ${error?.message}`).toBe(
    `INTERRUPTED interrupted: moved ${held.toLocaleString('en-US')} messages from queue q to held. The rest is ` +
      'still in q',
  )
  expect(held).toBeLessThan(5000)
  expect(await readyIn(vhost.endpoint, 'q')).toBe(5000 - held)
  expect(await mover.aside({ from: 'q', to: 'held' })).toMatchObject({ moved: 5000 - held })
  await mover.back({ from: 'held', to: 'q' })
  expect(bodies(await drainRaw(vhost.endpoint, 'q'))).toEqual(bodies(all))
})
