import { randomUUID } from 'node:crypto'
import { describe } from 'vitest'
import { openSessions } from '../../src/adapters/redis/index.ts'
import type { SessionTimes } from '../../src/core/sources.ts'
import { javaInteger, javaLong } from '../adapters/java-numbers.ts'
import { freshRedisDatabase } from '../servers/index.ts'
import type { FreshRedisDatabase } from '../servers/index.ts'
import { sessionsContract } from './sessions.ts'

describe('sessions', () => {
  sessionsContract(async ({ namespace = 'spring:session', indexed = false, sessions = [] }) => {
    const redis = await freshRedisDatabase()
    for (const times of sessions) await write(redis, namespace, indexed, times)
    const opened = await openSessions(redis.endpoint, { timeoutMs: 5000 })
    let closed = false
    return {
      source: opened.source,
      async close() {
        await opened.close()
        if (closed) return
        closed = true
        await redis.cleanup()
      },
    }
  })
})

/** As Spring Session's repositories do (FIELD-NOTES.md 4). */
async function write(
  { client }: FreshRedisDatabase,
  namespace: string,
  indexed: boolean,
  times: SessionTimes,
): Promise<void> {
  const id = randomUUID()
  const key = `${namespace}:sessions:${id}`
  const fields = {
    'sessionAttr:SPRING_SECURITY_CONTEXT': Buffer.from('never to be read'),
    ...(times.creationTime === null ? {} : { creationTime: javaLong(times.creationTime) }),
    ...(times.lastAccessedTime === null ? {} : { lastAccessedTime: javaLong(times.lastAccessedTime) }),
    ...(times.maxInactiveSeconds === null ? {} : { maxInactiveInterval: javaInteger(times.maxInactiveSeconds) }),
  }
  await client.hset(key, fields)
  if (times.ttlMs !== null) await client.pexpire(key, times.ttlMs)
  if (!indexed) return
  await client.set(`${namespace}:sessions:expires:${id}`, '')
  await client.sadd(`${namespace}:expirations:1700000000000`, `expires:${id}`)
  await client.sadd(
    `${namespace}:index:org.springframework.session.FindByIndexNameSessionRepository.PRINCIPAL_NAME_INDEX_NAME:admin`,
    id,
  )
}
