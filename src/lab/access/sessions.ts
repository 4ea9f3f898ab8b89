import type { Redis } from 'ioredis'
import { labNames, serversOf } from '../lab.ts'
import type { Lab } from '../lab.ts'
import { notLetIn } from './refusal.ts'

/** Runs `work` on a connection to the lab's Redis. Throws UNREACHABLE. */
export async function onSessions<T>(
  lab: Pick<Lab, 'layout' | 'state'>,
  work: (redis: Redis) => Promise<T>,
): Promise<T> {
  const { redis: record } = await serversOf(lab)
  const { default: ioredis } = await import('ioredis')
  const redis = new ioredis.Redis({
    host: record.host,
    port: record.port,
    db: Number(record.database),
    ...(record.password ? { password: record.password } : {}),
    ...(record.user && record.user !== 'default' ? { username: record.user } : {}),
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    connectTimeout: 5000,
  })
  redis.on('error', () => undefined)
  try {
    await redis.connect()
  } catch (error) {
    throw notLetIn(record, error)
  }
  try {
    return await work(redis)
  } finally {
    redis.disconnect()
  }
}

/** Removes all sessions of the lab, in batches. */
export async function removeSessions(lab: Pick<Lab, 'layout' | 'state'>): Promise<void> {
  const { namespace } = labNames(lab.state, await serversOf(lab))
  await onSessions(lab, async (redis) => {
    let cursor = '0'
    do {
      const [next, keys] = await redis.scan(cursor, 'MATCH', `${namespace}:*`, 'COUNT', 1000)
      if (keys.length > 0) await redis.unlink(...keys)
      cursor = next
    } while (cursor !== '0')
  })
}
