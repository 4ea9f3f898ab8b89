import { randomUUID } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { openSessions } from '../../src/adapters/redis/index.ts'
import type { SessionsEndpoint } from '../../src/core/endpoint.ts'
import type { SessionsSource } from '../../src/core/sources.ts'
import type { FreshRedisDatabase } from '../servers/index.ts'
import { javaInteger, javaLong } from './java-numbers.ts'

export const timeoutMs = 3000

/** Open until the test ends. */
export async function opened(endpoint: SessionsEndpoint): Promise<SessionsSource> {
  const { source, close } = await openSessions(endpoint, { timeoutMs })
  onTestFinished(close)
  return source
}

/** Adds a session as Spring writes it. */
export async function addSession({ client }: FreshRedisDatabase, namespace: string, time = Date.now()): Promise<void> {
  const times = {
    creationTime: javaLong(time),
    lastAccessedTime: javaLong(time),
    maxInactiveInterval: javaInteger(1800),
  }
  await client.hset(`${namespace}:sessions:${randomUUID()}`, times)
}

/** Where its server listens. */
export function placeOf({ endpoint: { host, port } }: FreshRedisDatabase): { host: string; port: number } {
  return { host, port }
}
