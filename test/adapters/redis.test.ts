import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { openSessions } from '../../src/adapters/redis/index.ts'
import type { SessionsEndpoint } from '../../src/core/endpoint.ts'
import { Secret } from '../../src/core/secret.ts'
import { removeServer, startServer, stopServer } from '../../src/lab/servers/index.ts'
import type { ServerRecord } from '../../src/lab/servers/index.ts'
import { freshRedisDatabase } from '../servers/index.ts'
import type { FreshRedisDatabase } from '../servers/index.ts'
import { sessionsAt } from './endpoints.ts'
import { errorOf, failureOf } from './failure-of.ts'
import { javaLong } from './java-numbers.ts'
import { addSession, opened, placeOf, timeoutMs } from './own-redis.ts'
import { withoutGiven } from './own-servers.ts'
import { cuttableProxy } from './peers.ts'
import { interceptingRedis } from './resp.ts'

const password = 'pass word/é'

describe('a Redis of its own', () => {
  let folder = ''
  let server: ServerRecord
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'testops-admin-redis-'))
    server = await startServer(
      { kind: 'redis', directory: join(folder, 'redis'), redis: { password: new Secret(password) } },
      { progress: () => undefined, environment: withoutGiven() },
    )
  })
  afterAll(async () => {
    await removeServer(server)
    await rm(folder, { recursive: true, force: true })
  })
  const endpoint = (of: Partial<SessionsEndpoint> = {}): SessionsEndpoint =>
    sessionsAt(server.port, { host: server.host, password: new Secret(password), ...of })

  test('lets in whoever knows the password', async () => {
    expect(await (await opened(endpoint())).identity()).toMatchObject({ role: 'master', loading: false })
    const third = await opened(endpoint({ user: 'default', database: 3 }))
    expect(await third.clock()).toBeDefined()
    expect(third.client).toBe(`redis-cli -h ${server.host} -p ${server.port} --user default --askpass -n 3`)
  })

  test('leaves a large store of foreign keys in peace', async () => {
    const { client, endpoint, ...own } = await freshRedisDatabase(server)
    onTestFinished(async () => own.cleanup())
    for (let part = 0; part < 30; part += 1) {
      const pipeline = client.pipeline()
      for (let key = 0; key < 10_000; key += 1) pipeline.set(`foreign:${part}:${key}`, '')
      await pipeline.exec()
    }
    const sample = await (await opened({ ...endpoint, password: new Secret(password) })).sampleSessions(1000)
    expect(sample).toEqual({ namespace: null, indexed: false, complete: false, sessions: [] })
    const [, scans] = /^cmdstat_scan:calls=(\d+)/m.exec(await client.info('commandstats')) ?? []
    expect(Number(scans)).toBeLessThanOrEqual(200)
  })

  test('wants a password', async () => {
    const failure = await errorOf(openSessions(endpoint({ password: null }), { timeoutMs }))
    expect(`${failure?.code} ${failure?.message}`).toBe(
      `UNAUTHENTICATED Redis at ${server.host}:${server.port}/0 asks for a password, but none is configured`,
    )
  })

  test('refuses another password', async () => {
    const failure = await errorOf(openSessions(endpoint({ password: new Secret('wrong-one') }), { timeoutMs }))
    expect(`${failure?.code} ${failure?.message}`).toBe(
      `UNAUTHENTICATED Redis at ${server.host}:${server.port}/0 rejected the user name or the password`,
    )
    expect(failure?.suggestions).toEqual([`redis-cli -h ${server.host} -p ${server.port} --askpass PING`])
    expect(JSON.stringify(failure)).not.toContain('wrong-one')
  })

  test('has no such database', async () => {
    expect(await failureOf(openSessions(endpoint({ database: 99 }), { timeoutMs }))).toMatch(
      /^UNAVAILABLE Redis at \S+\/99 has no database with the configured number$/,
    )
  })

  test('allows a user not everything', async () => {
    const { Redis } = await import('ioredis')
    const admin = new Redis({ host: server.host, port: server.port, password })
    await admin.call('ACL', 'SETUSER', 'few', 'on', '>few-password', '~*', '+select', '+ping', '+time')
    await admin.quit()
    const source = await opened(endpoint({ user: 'few', password: new Secret('few-password') }))
    expect((await source.clock()).uncertaintyMs).toBeGreaterThan(0)
    for (const question of [source.identity(), source.memory(), source.sampleSessions(10)]) {
      expect(await failureOf(question)).toMatch(
        /^FORBIDDEN Redis at .* denies this user a required permission: NOPERM .*(info|scan).*/i,
      )
    }
  })

  test('is stopped while it is asked', async () => {
    const source = await opened(endpoint())
    await source.clock()
    await stopServer(server, 'kill')
    expect(await failureOf(source.clock())).toMatch(/^UNREACHABLE Redis at \S+ closed the connection$/)
    expect(await failureOf(source.sampleSessions(5))).toMatch(/^UNREACHABLE Redis at \S+ closed the connection$/)
    expect(await failureOf(openSessions(endpoint(), { timeoutMs }))).toMatch(
      /^UNREACHABLE Redis at \S+ refused the connection/,
    )
  })
})

describe('a shared Redis', () => {
  let redis: FreshRedisDatabase
  beforeAll(async () => {
    redis = await freshRedisDatabase()
  })
  beforeEach(async () => {
    await redis.client.flushdb()
  })
  afterAll(async () => redis.cleanup())
  const server = (): { host: string; port: number } => placeOf(redis)

  test('a password that is not wanted is no obstacle', async () => {
    expect(await failureOf(opened({ ...redis.endpoint, password: new Secret('needless') }))).toBe(null)
  })

  test('what only looks like sessions is none', async () => {
    await addSession(redis, 'spring:session')
    await redis.client.set('spring:session:sessions:a-string', 'x')
    await redis.client.hset('app:sessions:one', { user: 'x' })
    await redis.client.sadd('app:sessions:active', 'x')
    await redis.client.hset('spring:session:sessions:text', {
      creationTime: 'soon',
      lastAccessedTime: '',
      maxInactiveInterval: javaLong(1).subarray(0, 40),
    })
    const sample = await (await opened(redis.endpoint)).sampleSessions(100)
    expect(sample).toMatchObject({ namespace: 'spring:session', indexed: false, complete: true })
    expect(sample.sessions.length).toBe(2)
    expect(sample.sessions).toContainEqual({
      creationTime: null,
      lastAccessedTime: null,
      maxInactiveSeconds: null,
      ttlMs: null,
    })
  })

  test('the key space with the most sessions, or the one that is named', async () => {
    await addSession(redis, 'one')
    await addSession(redis, 'two')
    await addSession(redis, 'two')
    expect(await (await opened(redis.endpoint)).sampleSessions(100)).toMatchObject({ namespace: 'two' })
    const named = await (await opened({ ...redis.endpoint, namespace: 'one' })).sampleSessions(100)
    expect([named.namespace, named.sessions.length]).toEqual(['one', 1])
    expect(await (await opened({ ...redis.endpoint, namespace: 'three' })).sampleSessions(100)).toMatchObject({
      namespace: null,
      sessions: [],
    })
  })

  test('renamed commands are named', async () => {
    const port = await interceptingRedis(server(), () => ({
      info: "-ERR unknown command 'INFO', with args beginning with: \r\n",
      scan: "-ERR unknown command 'SCAN', with args beginning with: '0' \r\n",
    }))
    // each command goes in a packet of its own, so that the peer in between can tell them apart
    const source = await opened(sessionsAt(port))
    expect(await failureOf(source.identity())).toBe(
      `UNAVAILABLE Redis at 127.0.0.1:${port}/0 does not know the command INFO: it has been renamed or disabled`,
    )
    expect(await failureOf(source.sampleSessions(1))).toBe(
      `UNAVAILABLE Redis at 127.0.0.1:${port}/0 does not know the command SCAN: it has been renamed or disabled`,
    )
  })

  test('a server that is loading says so', async () => {
    const port = await interceptingRedis(server(), () => ({
      time: '-LOADING Redis is loading the dataset in memory\r\n',
    }))
    expect(await failureOf((await opened(sessionsAt(port))).clock())).toBe(
      `UNREACHABLE Redis at 127.0.0.1:${port}/0 is still loading its data`,
    )
  })

  test('a connection that stalls is given up', async () => {
    const proxy = await cuttableProxy(() => connect(server()))
    const { source, close } = await openSessions(sessionsAt(proxy.port), { timeoutMs: 500 })
    onTestFinished(close)
    await source.clock()
    proxy.stall()
    expect(await failureOf(source.memory())).toMatch(
      /^TIMED_OUT Redis at \S+ accepted the connection but did not answer within 0\.5 s$/,
    )
    expect(await failureOf(source.clock())).toMatch(/^UNREACHABLE /)
  })
})
