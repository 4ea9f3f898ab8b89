import { describe, expect, onTestFinished, test } from 'vitest'
import { openMessageMover } from '../../../src/adapters/rabbitmq/messages/index.ts'
import type { MessageMover } from '../../../src/core/message-mover.ts'
import { Secret } from '../../../src/core/secret.ts'
import { freshVhost } from '../../servers/index.ts'
import type { FreshVhost } from '../../servers/index.ts'
import { awkward, header, propertiesOf, text } from './messages.ts'
import { bodies, drainRaw, kept, makeQueue, numbered, publishRaw, readyIn } from './raw.ts'
import type { RawMessage } from './raw.ts'

async function opened(line: '3' | '4.3'): Promise<{ vhost: FreshVhost; mover: MessageMover }> {
  const vhost = await freshVhost(line)
  const { source, close } = await openMessageMover(vhost.endpoint, { timeoutMs: 20_000 })
  onTestFinished(async () => {
    await close()
    await vhost.cleanup()
  })
  return { vhost, mover: source }
}

describe.each(['3', '4.3'] as const)('RabbitMQ %s', (line) => {
  test('every kind of message comes back as it was, in its place', async () => {
    const { vhost, mover } = await opened(line)
    for (const queue of ['q', 'q.copy']) await makeQueue(vhost, queue)
    const all = awkward('q', vhost.endpoint.user)
    await publishRaw(vhost.endpoint, all)
    expect((await drainRaw(vhost.endpoint, 'q.copy')).length).toBe(1)
    const before = await drainRaw(vhost.endpoint, 'q')
    expect(before.length).toBe(all.length)
    await publishRaw(vhost.endpoint, all)
    await drainRaw(vhost.endpoint, 'q.copy')

    expect(await mover.aside({ from: 'q', to: 'held' })).toMatchObject({
      moved: all.length,
      perhapsTwice: 0,
      othersIds: 0,
      leftOut: 0,
    })
    expect(await readyIn(vhost.endpoint, 'q')).toBe(0)
    expect(await mover.back({ from: 'held', to: 'q' })).toMatchObject({
      moved: all.length,
      perhapsTwice: 0,
      othersIds: 0,
      leftOut: 0,
    })
    expect(await readyIn(vhost.endpoint, 'held')).toBe(0)

    expect(await readyIn(vhost.endpoint, 'q.copy')).toBe(0)
    const after = await drainRaw(vhost.endpoint, 'q')
    expect(kept(after)).toEqual(kept(before))
    expect(new Set(after.map(({ exchange }) => exchange))).toEqual(
      new Set([expect.stringMatching(/^testops-admin\.back\.\w{16}$/)]),
    )
    const exchanges = (await vhost.manage('GET', `/api/exchanges/${vhost.vhost}`)) as { name: string }[]
    expect(exchanges.filter(({ name }) => name.startsWith('testops-admin'))).toEqual([])
  })

  test('messages with keys, from an exchange, keep the key that they were published with', async () => {
    const { vhost, mover } = await opened(line)
    await makeQueue(vhost, 'q')
    await vhost.manage('PUT', `/api/exchanges/${vhost.vhost}/topics`, { type: 'topic', durable: true })
    await vhost.manage('POST', `/api/bindings/${vhost.vhost}/e/topics/q/q`, { routing_key: '#' })
    const keys = ['', 'a.b', '\u00ff\u0000.x', 'k'.repeat(255)]
    await publishRaw(
      vhost.endpoint,
      keys.map((routingKey) => ({
        exchange: 'topics',
        routingKey,
        properties: propertiesOf({}),
        body: Buffer.alloc(0),
      })),
    )
    await mover.aside({ from: 'q', to: 'held' })
    await mover.back({ from: 'held', to: 'q' })
    expect((await drainRaw(vhost.endpoint, 'q')).map(({ routingKey }) => routingKey)).toEqual(keys)
  })

  test('what has come already is left out, and nothing of another attempt or place', async () => {
    const { vhost, mover } = await opened(line)
    await makeQueue(vhost, 'q')
    // its envelope fits into no header, so that it goes before the body
    const large = propertiesOf({ headers: header('large', 'S', text('x'.repeat(130_985))) })
    const all = numbered('q', 6).map((it, index) => (index % 2 === 0 ? it : { ...it, properties: large }))
    await publishRaw(vhost.endpoint, all.slice(0, 4))
    await mover.aside({ from: 'q', to: 'held', attempt: '0123456789abcdef' })
    await publishRaw(vhost.endpoint, all.slice(4))
    await mover.aside({ from: 'q', to: 'held', attempt: 'fedcba9876543210' })
    const { moved, again, contents } = await mover.back({
      from: 'held',
      to: 'q',
      came: { '0123456789abcdef': 3, constructor: 9 },
    })
    expect({
      moved,
      again,
      counts: Object.fromEntries(
        Object.entries(contents).map(([attempt, { count, last }]) => [attempt, [count, last]]),
      ),
    }).toEqual({
      moved: 6,
      again: 3,
      counts: { '0123456789abcdef': [1, 4], fedcba9876543210: [2, 2] },
    })
    expect(await readyIn(vhost.endpoint, 'held')).toBe(0)
    expect(bodies(await drainRaw(vhost.endpoint, 'q'))).toEqual(bodies(all.slice(3)))
  })

  test('10,000 messages keep their order', async () => {
    const { vhost, mover } = await opened(line)
    await makeQueue(vhost, 'q')
    const all = numbered('q', 10_000)
    await publishRaw(vhost.endpoint, all)
    const told: number[] = []
    await mover.aside({ from: 'q', to: 'held', onProgress: ({ moved }) => void told.push(moved) })
    expect(told.at(-1)).toBe(10_000)
    expect(told).toEqual([...told].sort((a, b) => a - b))
    await mover.back({ from: 'held', to: 'q' })
    expect(bodies(await drainRaw(vhost.endpoint, 'q'))).toEqual(bodies(all))
  })

  test('what is held does not expire, and expires again once it is back', async () => {
    const { vhost, mover } = await opened(line)
    await makeQueue(vhost, 'q')
    const properties = propertiesOf({ expiration: '700', headers: header('a', 'S', text('b')) })
    await publishRaw(vhost.endpoint, [{ exchange: '', routingKey: 'q', properties, body: Buffer.from('short') }])
    await mover.aside({ from: 'q', to: 'held' })
    await new Promise((resolve) => setTimeout(resolve, 1000))
    expect(await readyIn(vhost.endpoint, 'held')).toBe(1)
    expect(await mover.back({ from: 'held', to: 'q' })).toMatchObject({ moved: 1 })
    await new Promise((resolve) => setTimeout(resolve, 1000))
    expect(await readyIn(vhost.endpoint, 'q')).toBe(0)
  })

  test('priorities are held in the order of delivery, and order again', async () => {
    const { vhost, mover } = await opened(line)
    await makeQueue(vhost, 'q', { 'x-max-priority': 5 })
    const message = (priority: number, index: number): RawMessage => ({
      exchange: '',
      routingKey: 'q',
      properties: propertiesOf({ priority }),
      body: Buffer.from(`${priority}-${index}`),
    })
    await publishRaw(vhost.endpoint, [1, 5, 3, 1, 5].map(message))
    await mover.aside({ from: 'q', to: 'held' })
    await mover.back({ from: 'held', to: 'q' })
    expect(bodies(await drainRaw(vhost.endpoint, 'q'))).toEqual(['5-1', '5-4', '3-2', '1-0', '1-3'])
  })

  test.each([
    { tags: 'monitoring', lost: 1 },
    { tags: 'monitoring,impersonator', lost: 0 },
  ])('the user_id of another user, moved by one who is $tags', async ({ tags, lost }) => {
    const { vhost, mover } = await opened(line)
    await makeQueue(vhost, 'q')
    const other = `${vhost.vhost}-other`
    await vhost.manage('PUT', `/api/users/${other}`, { password: 'other', tags: '' })
    onTestFinished(async () => void (await vhost.manage('DELETE', `/api/users/${other}`)))
    await vhost.manage('PUT', `/api/permissions/${vhost.vhost}/${other}`, { configure: '', write: '.*', read: '' })
    await vhost.manage('PUT', `/api/users/${vhost.endpoint.user}`, {
      password: vhost.endpoint.password?.reveal(),
      tags,
    })
    const message = (userId?: string): RawMessage => ({
      exchange: '',
      routingKey: 'q',
      properties: propertiesOf({
        deliveryMode: 2,
        timestamp: 1n,
        ...(userId !== undefined && { userId }),
        appId: 'app',
      }),
      body: Buffer.alloc(0),
    })
    await publishRaw({ ...vhost.endpoint, user: other, password: new Secret('other') }, [message(other)])
    await publishRaw(vhost.endpoint, [message(vhost.endpoint.user)])
    expect(await mover.aside({ from: 'q', to: 'held' })).toMatchObject({ moved: 2, perhapsTwice: 0, othersIds: 1 })
    expect(await mover.back({ from: 'held', to: 'q' })).toMatchObject({ moved: 2, perhapsTwice: 0, othersIds: lost })
    expect((await drainRaw(vhost.endpoint, 'q')).map(({ properties }) => properties)).toEqual(
      [message(lost === 0 ? other : undefined), message(vhost.endpoint.user)].map(({ properties }) => properties),
    )
  })

  test.each([{ 'x-single-active-consumer': true }, { 'x-queue-type': 'quorum' }])('a queue with %o', async (table) => {
    const { vhost, mover } = await opened(line)
    await makeQueue(vhost, 'q', table)
    const all = numbered('q', 300)
    await publishRaw(vhost.endpoint, all)
    expect(await mover.aside({ from: 'q', to: 'held' })).toMatchObject({
      moved: 300,
      perhapsTwice: 0,
      othersIds: 0,
      leftOut: 0,
    })
    expect(await mover.back({ from: 'held', to: 'q' })).toMatchObject({
      moved: 300,
      perhapsTwice: 0,
      othersIds: 0,
      leftOut: 0,
    })
    expect(bodies(await drainRaw(vhost.endpoint, 'q'))).toEqual(bodies(all))
  })

  test('an empty queue', async () => {
    const { vhost, mover } = await opened(line)
    await makeQueue(vhost, 'q')
    expect(await mover.aside({ from: 'q', to: 'held' })).toMatchObject({
      moved: 0,
      perhapsTwice: 0,
      othersIds: 0,
      leftOut: 0,
    })
    expect(await mover.back({ from: 'held', to: 'q' })).toMatchObject({
      moved: 0,
      perhapsTwice: 0,
      othersIds: 0,
      leftOut: 0,
    })
  })
})
