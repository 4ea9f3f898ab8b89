import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSessions } from '../../src/adapters/redis/index.ts'
import { freshRedisDatabase } from '../servers/index.ts'
import type { FreshRedisDatabase } from '../servers/index.ts'
import { sessionsAt } from './endpoints.ts'
import { failureOf } from './failure-of.ts'
import { opened, placeOf, timeoutMs } from './own-redis.ts'
import { closedPort, openConnections, silentPeerApart } from './peers.ts'
import { interceptingRedis, resp } from './resp.ts'

let redis: FreshRedisDatabase
beforeAll(async () => {
  redis = await freshRedisDatabase()
})
afterAll(async () => redis.cleanup())
const server = (): { host: string; port: number } => placeOf(redis)

test('each master of a cluster is looked at', async () => {
  const number = redis.database
  const port = await interceptingRedis(server(), (own) => ({
    'cluster slots': resp([[0, 16383, ['127.0.0.1', own, 'a'.repeat(40)]]]),
    'cluster info': resp('cluster_state:ok\r\n'),
  }))
  const source = await opened(
    sessionsAt(1, {
      cluster: [
        { host: '127.0.0.1', port: await closedPort() },
        { host: '127.0.0.1', port },
      ],
      namespace: `only-${number}`,
    }),
  )
  expect(await source.identity()).toMatchObject({ role: 'master' })
  expect(source.client).toMatch(/^redis-cli -h 127\.0\.0\.1 -p \d+ -c$/)
  expect((await source.memory()).usedBytes).toBeGreaterThan(0)
  expect((await source.sampleSessions(10)).sessions).toEqual([])
})

test('no node of a cluster answers', async () => {
  const failure = await failureOf(
    openSessions(sessionsAt(1, { cluster: [{ host: '127.0.0.1', port: await closedPort() }] }), { timeoutMs }),
  )
  expect(failure).toMatch(/^UNREACHABLE Redis at 127\.0\.0\.1:\d+ \(cluster\) /)
})

test.each([1, 2])('no node of a cluster of %i says anything, and all are let go', async (count) => {
  const nodes = await Promise.all(
    Array.from({ length: count }, async () => ({ host: '127.0.0.1', port: await silentPeerApart() })),
  )
  // the test's own client
  await expect.poll(openConnections).toBe(1)
  const failure = await failureOf(openSessions(sessionsAt(1, { cluster: nodes }), { timeoutMs: 1500 }))
  // longer than what ioredis gives a node by itself
  expect(failure).toBe(
    `TIMED_OUT Redis at 127.0.0.1:${nodes[0]!.port} (cluster) accepted the connection but did not answer within 1.5 s`,
  )
  await expect.poll(openConnections, { timeout: 500, interval: 20 }).toBe(1)
})
