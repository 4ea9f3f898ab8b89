import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import type { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { lastCount, openSessionsControl } from '../../src/adapters/redis/index.ts'
import type { RemovalOptions, SessionsControl } from '../../src/core/controls.ts'
import { sessionKeys } from '../../src/knowledge/sessions.ts'
import { freshRedisDatabase } from '../servers/index.ts'
import { listen } from './peers.ts'
import { writeMany, writeSession } from './stored-sessions.ts'

const space = 'spring:session'

interface Store {
  client: Redis
  control: SessionsControl
  /** how often something was sent to the server */
  sent: () => number
}

/** An empty database, and a way to it on which `happens` just before the server is asked this for the first time. */
async function storeWith(
  { before, happens }: { before: string; happens: (client: Redis) => Promise<unknown> } = {
    before: 'never',
    happens: async () => undefined,
  },
): Promise<Store> {
  const redis = await freshRedisDatabase()
  const { host, port } = redis.endpoint
  let isDue = true
  let sent = 0
  const own = await listen((socket) => {
    const server = connect({ host, port })
    server.on('error', () => socket.destroy())
    socket.on('close', () => server.destroy())
    server.pipe(socket)
    let passed = Promise.resolve()
    socket.on('data', (chunk: Buffer) => {
      sent += 1
      passed = passed.then(async () => {
        if (isDue && chunk.includes(`\r\n${before}\r\n`)) {
          isDue = false
          await happens(redis.client)
        }
        server.write(chunk)
      })
    })
  })
  const { source, close } = await openSessionsControl(
    { ...redis.endpoint, host: '127.0.0.1', port: own },
    { timeoutMs: 20_000, last: lastCount() },
  )
  onTestFinished(async () => {
    await close()
    await redis.cleanup()
  })
  return { client: redis.client, control: source, sent: () => sent }
}

const all = { namespace: space, which: 'all', asOf: null } as const
const calm: RemovalOptions = {
  flush: false,
  onBatch: async () => undefined,
  onRemoved: async () => undefined,
  signal: new AbortController().signal,
}
const atOnce: RemovalOptions = { ...calm, flush: true }

/** Ends some sessions of the store that bear no index. */
async function end(client: Redis, count: number): Promise<void> {
  const keys = await client.keys(`${space}:sessions:????????-*`)
  const marked = new Set((await client.keys(`${space}:sessions:expires:*`)).map((key) => key.replace(':expires:', ':')))
  await client.unlink(...keys.filter((key) => !marked.has(key)).slice(0, count))
}

describe('emptied at once', () => {
  test('with sessions of every kind, whoever has signed in meanwhile, and the index', async () => {
    const { client, control } = await storeWith({ before: 'EVAL', happens: async (it) => writeSession(it, {}) })
    await writeMany(client, 3)
    await writeSession(client, { user: 'al:ice' })
    await writeSession(client, { id: 'node1-é', json: true, user: 'bob' })
    expect(await control.remove(all, atOnce)).toEqual({ counted: 5, removed: null, notFlushed: null })
    expect(await client.dbsize()).toBe(0)
  })

  test.each<[string, (client: Redis) => Promise<unknown>]>([
    ['a key of another name', async (it) => it.set('cache', 'x')],
    ['a hash of the sort with no id', async (it) => it.hset(`${space}:sessions:`, 'creationTime', '1')],
    [
      'a hash with an id of another kind, and no times',
      async (it) => it.hset(`${space}:sessions:settings`, 'user', 'x'),
    ],
    ['a hash with a longer name', async (it) => it.hset(`${space}:sessions:of:${randomUUID()}`, 'creationTime', '1')],
    ['a string in place of a session', async (it) => it.set(sessionKeys.session(space, randomUUID()), 'x')],
    ['a hash in place of a mark', async (it) => it.hset(sessionKeys.expires(space, randomUUID()), 'user', 'x')],
    ['a list in place of a user', async (it) => it.rpush(sessionKeys.userIndex(space, 'alice'), 'x')],
    ['a set with a longer name', async (it) => it.sadd(sessionKeys.expirations(space, 'a:b'), 'x')],
    ['a sorted set of another name', async (it) => it.zadd(`${space}:scores`, 1, 'x')],
    ['a session of another key space', async (it) => writeSession(it, { namespace: 'other' })],
  ])('not where %s comes as a session ends', async (_, add) => {
    const { client, control } = await storeWith({
      before: 'EVAL',
      async happens(it) {
        await end(it, 1)
        await add(it)
      },
    })
    await writeMany(client, 5)
    const own = await client.keys('*')
    expect(await control.remove(all, atOnce)).toEqual({
      counted: 5,
      removed: 4,
      notFlushed: 'this database contains a key that is not a session',
    })
    const left = await client.keys('*')
    expect([left.length, left.filter((key) => own.includes(key))]).toEqual([1, []])
  })

  test('not where a session that was counted ends before the keys are', async () => {
    const { client, control } = await storeWith({ before: 'DBSIZE', happens: async (it) => end(it, 1) })
    await writeMany(client, 5)
    await client.set('cache', 'x')
    expect(await control.remove(all, atOnce)).toEqual({
      counted: 5,
      removed: 4,
      notFlushed: 'this database contains a key that is not a session',
    })
    expect(await client.keys('*')).toEqual(['cache'])
  })

  test('not where there are too many keys to look at', async () => {
    const { client, control } = await storeWith()
    await writeMany(client, 50_001)
    expect(await control.remove(all, atOnce)).toEqual({
      counted: 50_001,
      removed: 50_001,
      notFlushed: 'this database contains more than 50,000 keys, too many to check in one step',
    })
    expect(await client.dbsize()).toBe(0)
  })
})

describe('the index', () => {
  test('is seen where as many sessions end as it has keys', async () => {
    const { client, control } = await storeWith({ before: 'DBSIZE', happens: async (it) => end(it, 4) })
    await writeMany(client, 9)
    await writeSession(client, { user: 'alice' })
    expect(await control.remove(all, calm)).toEqual({ counted: 10, removed: 6, notFlushed: null })
    expect(await client.keys('*')).toEqual([])
  })

  test('is gone through in few round trips, with progress', async () => {
    const { client, control, sent } = await storeWith()
    for (let user = 0; user < 2500; user += 1) void writeSession(client, { user: `user-${user}`, json: user % 2 === 0 })
    const last = await writeSession(client, { user: 'user-7' })
    const told: { done: number; total: number; isThere: boolean }[] = []
    const options: RemovalOptions = {
      ...calm,
      onBatch: async (done, total) =>
        void told.push({ done, total, isThere: (await client.exists(sessionKeys.session(space, last))) === 1 }),
    }
    const before = sent()
    expect(await control.remove(all, options)).toMatchObject({ counted: 2501, removed: 2501 })
    expect(sent() - before).toBeLessThan(600)
    // 2,500 sets of users, one of a minute, the sorted set; then as many marks as sessions
    expect(told.at(-1)).toEqual({ done: 7504, total: 7504, isThere: false })
    expect(told.filter(({ done, isThere }) => done <= 2502 && isThere).length).toBeGreaterThan(2)
    expect(await client.dbsize()).toBe(0)
  })

  test('is left where it was when told to stop, with every session', async () => {
    const { client, control } = await storeWith()
    for (let user = 0; user < 9000; user += 1) void writeSession(client, { user: `user-${user}` })
    await writeSession(client, { user: 'last' })
    const stop = new AbortController()
    const removal = control.remove(all, { ...calm, onBatch: async () => stop.abort(), signal: stop.signal })
    await expect(removal).rejects.toMatchObject({ code: 'INTERRUPTED' })
    const left = await client.keys(`${space}:*`)
    expect(left.filter((key) => /:sessions:(expires:)?[0-9a-f-]{36}$/.test(key))).toHaveLength(18_002)
    expect(left.filter((key) => key.includes(':index:')).length).toBeGreaterThan(1000)
    expect(await control.remove(all, calm)).toMatchObject({ counted: 9001, removed: 9001 })
    expect(await client.dbsize()).toBe(0)
  })

  test('keeps what is not meant', async () => {
    const { client, control } = await storeWith()
    const stale = { lastAccessedTime: Date.now() - 7_200_000, maxInactiveSeconds: 3600, ttlMs: null }
    const kept: string[] = []
    for (const user of ['alice', 'bob']) {
      kept.push(await writeSession(client, { user }))
      await writeSession(client, { user, json: true, times: stale })
      await writeSession(client, { user, times: stale })
    }
    await client.set(sessionKeys.userIndex(space, 'carol'), 'x')
    expect(await control.remove({ ...all, which: 'stale' }, calm)).toEqual({ counted: 4, removed: 4, notFlushed: null })
    const members = await Promise.all(
      ['alice', 'bob'].map(async (user) => client.smembers(sessionKeys.userIndex(space, user))),
    )
    const minute = await client.smembers(sessionKeys.expirations(space, '1700000000000'))
    expect([
      members.map((it) => it.map((member) => member.slice(-36))),
      minute.map((it) => it.slice(-36)).sort(),
    ]).toEqual([kept.map((id) => [id]), [...kept].sort()])
    expect((await client.zrange(sessionKeys.sortedExpirations(space), '0', '-1')).sort()).toEqual([...kept].sort())
  })
})
