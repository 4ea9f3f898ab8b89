import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSessions } from '../../src/adapters/redis/index.ts'
import type { SessionsEndpoint } from '../../src/core/endpoint.ts'
import { Secret } from '../../src/core/secret.ts'
import { freshRedisDatabase } from '../servers/index.ts'
import type { FreshRedisDatabase } from '../servers/index.ts'
import { errorOf, failureOf } from './failure-of.ts'
import { addSession, opened, placeOf, timeoutMs } from './own-redis.ts'
import { closedPort, openConnections, silentPeerApart } from './peers.ts'
import { interceptingRedis, resp } from './resp.ts'

let redis: FreshRedisDatabase
beforeAll(async () => {
  redis = await freshRedisDatabase()
})
afterAll(async () => redis.cleanup())
const server = (): { host: string; port: number } => placeOf(redis)

/** The master by way of sentinels at these ports. */
const sentinels = (ports: readonly number[], master = 'mymaster', secret: Secret | null = null): SessionsEndpoint => ({
  ...redis.endpoint,
  sentinel: { master, nodes: ports.map((port) => ({ host: '127.0.0.1', port })), password: secret },
})

test('the master is found through a sentinel', async () => {
  const { host, port } = server()
  const sentinel = await interceptingRedis(server(), () => ({
    'sentinel get-master-addr-by-name': resp([host, String(port)]),
  }))
  await addSession(redis, 'spring:session')
  const source = await opened(sentinels([await closedPort(), sentinel]))
  expect((await source.sampleSessions(10)).sessions.length).toBe(1)
  expect(source.target).toMatch(/^127\.0\.0\.1:\d+ \(sentinel, master mymaster\)\/\d+$/)
  expect(source.client).toBe(`redis-cli -h ${host} -p ${port} -n ${redis.database}`)
})

test('a silent sentinel keeps nobody from asking the others', async () => {
  const { host, port } = server()
  const silent = await silentPeerApart()
  const sentinel = await interceptingRedis(server(), () => ({
    'sentinel get-master-addr-by-name': resp([host, String(port)]),
  }))
  // the test's own client
  await expect.poll(openConnections).toBe(1)
  const started = performance.now()
  const source = await opened(sentinels([silent, sentinel]))
  expect(performance.now() - started).toBeLessThan(timeoutMs / 2)
  expect(source.target).toBe(`${host}:${port} (sentinel, master mymaster)/${redis.database}`)
  // the sentinels are let go, the silent one too; what stays is the connection to the master
  await expect.poll(openConnections, { timeout: 500, interval: 20 }).toBe(2)
})

test.each([
  {
    what: 'knows no such master',
    answers: { 'sentinel get-master-addr-by-name': '*-1\r\n' },
    failure: /^UNAVAILABLE Redis at \S+ \(sentinel, master other\) knows no master with the configured name$/,
  },
  {
    what: 'wants a password',
    answers: { sentinel: '-NOAUTH Authentication required.\r\n' },
    failure: /^UNAUTHENTICATED Redis at \S+ \(sentinel, master other\) asks for a password, but none is configured$/,
  },
  {
    what: 'refuses the password',
    password: new Secret('wrong-one'),
    answers: {
      auth: '-WRONGPASS invalid username-password pair\r\n',
      sentinel: '-NOAUTH Authentication required.\r\n',
    },
    failure: /^UNAUTHENTICATED Redis at \S+ \(sentinel, master other\) rejected the user name or the password$/,
  },
  {
    what: 'is a Redis',
    answers: {},
    failure: new RegExp(
      String.raw`^UNAVAILABLE Redis at \S+ \(sentinel, master other\) ` +
        'does not know the command SENTINEL: it has been renamed or disabled$',
    ),
  },
])('a sentinel that $what', async ({ password: secret = null, answers, failure }) => {
  const port = await interceptingRedis(server(), () => answers)
  // what it says counts for more than that another one is down
  const error = await errorOf(openSessions(sentinels([await closedPort(), port], 'other', secret), { timeoutMs }))
  expect(`${error?.code} ${error?.message}`).toMatch(failure)
  const login = secret ? ' --askpass' : ''
  expect(error?.suggestions).toEqual([`redis-cli -h 127.0.0.1 -p ${port}${login} SENTINEL masters`])
})

test('the master that a sentinel names does not run', async () => {
  const gone = await closedPort()
  const sentinel = await interceptingRedis(server(), () => ({
    'sentinel get-master-addr-by-name': resp(['127.0.0.1', String(gone)]),
  }))
  expect(await failureOf(openSessions(sentinels([sentinel]), { timeoutMs }))).toBe(
    `UNREACHABLE Redis at 127.0.0.1:${gone} (sentinel, master mymaster)/${redis.database} refused the ` +
      `connection: nothing listens on 127.0.0.1:${gone}`,
  )
})

test('no sentinel answers', async () => {
  const failure = await failureOf(openSessions(sentinels([await closedPort()]), { timeoutMs }))
  expect(failure).toMatch(/^UNREACHABLE Redis at .*sentinel, master mymaster.* refused the connection/)
})
