import type { Redis } from 'ioredis'
import type { Opened, SessionsEndpoint } from '../../core/endpoint.ts'
import { AdminError } from '../../core/error.ts'
import type { SessionsSource } from '../../core/sources.ts'
import { readClock } from '../clock.ts'
import { withDeadline } from '../failure.ts'
import { countSessions, lastCount } from './bulk/count.ts'
import { nodesOf } from './bulk/node.ts'
import { connectRedis } from './connect.ts'
import type { Connection } from './connect.ts'
import type { LastCount } from './bulk/count.ts'
import { redisFailure } from './client.ts'
import { sampleSessions } from './sample.ts'

export { openSessionsControl } from './control.ts'
export { lastCount } from './bulk/count.ts'

type Memory = Awaited<ReturnType<SessionsSource['memory']>>

/**
 * Opens one read-only connection, or one to each master of a cluster. Throws UNREACHABLE, TIMED_OUT, UNAUTHENTICATED,
 * FORBIDDEN, EXHAUSTED, UNAVAILABLE (no such database), UNEXPECTED_ANSWER.
 */
export async function openSessions(
  endpoint: SessionsEndpoint,
  { timeoutMs, last = lastCount() }: { timeoutMs: number; last?: LastCount },
): Promise<Opened<SessionsSource>> {
  const connection = await connectRedis(endpoint, timeoutMs)
  return {
    source: {
      ...sessionsSource(connection, endpoint.namespace, timeoutMs),
      async census(asked) {
        const selection = { ...asked, namespace: asked.namespace ?? endpoint.namespace }
        const known = last.find(selection)
        if (known) return known.census
        const counting = await connectRedis(endpoint, timeoutMs)
        try {
          const counted = await countSessions(await nodesOf(counting, timeoutMs), selection)
          last.keep(counted)
          return counted.census
        } finally {
          counting.close()
        }
      },
    },
    async close() {
      connection.close()
    },
  }
}

function sessionsSource(
  connection: Connection,
  namespace: string | null,
  timeoutMs: number,
): Omit<SessionsSource, 'census'> {
  const { peer, client, servers, info, close } = connection
  const [first] = servers as readonly [Redis, ...Redis[]]
  const ask = async <T>(question: () => Promise<T>): Promise<T> => {
    try {
      return await withDeadline(question(), timeoutMs, peer)
    } catch (error) {
      const failure = redisFailure(error, peer)
      // a server that does not answer one request is not asked again
      if (failure.code === 'TIMED_OUT') close()
      throw failure
    }
  }
  return {
    target: peer.where,
    client,
    async identity() {
      if (info instanceof AdminError) throw info
      return {
        version: field(info, 'redis_version') ?? '',
        role: field(info, 'role') ?? '',
        loading: field(info, 'loading') === '1',
      }
    },
    clock: async () =>
      ask(async () =>
        readClock(async () => {
          const [wholeSeconds, microseconds] = await first.time()
          return Number(wholeSeconds) * 1000 + Number(microseconds) / 1000
        }),
      ),
    memory: async () =>
      ask(async () => {
        const all = await Promise.all(servers.map(memoryOf))
        return all.reduce((fullest, next) => (share(next) > share(fullest) ? next : fullest))
      }),
    sampleSessions: async (limit) =>
      ask(async () => sampleSessions(servers, { namespace, limit, budgetMs: timeoutMs / 2 })),
  }
}

async function memoryOf(server: Redis): Promise<Memory> {
  const [memory, stats] = await Promise.all([server.info('memory'), server.info('stats')])
  return {
    usedBytes: Number(field(memory, 'used_memory') ?? 0),
    maxBytes: Number(field(memory, 'maxmemory') ?? 0),
    policy: field(memory, 'maxmemory_policy') ?? '',
    evictedKeys: Number(field(stats, 'evicted_keys') ?? 0),
  }
}

/** Returns how full a server is; 0 if it has no limit. */
function share({ usedBytes, maxBytes }: Memory): number {
  return maxBytes > 0 ? usedBytes / maxBytes : 0
}

function field(info: string, name: string): string | null {
  return new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? null
}
