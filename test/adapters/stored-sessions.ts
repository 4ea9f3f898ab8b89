import { randomUUID } from 'node:crypto'
import type { Cluster, Redis } from 'ioredis'
import type { SessionTimes } from '../../src/core/sources.ts'
import { sessionKeys } from '../../src/knowledge/sessions.ts'
import { session } from '../fakes/index.ts'
import { javaInteger, javaLong } from './java-numbers.ts'

export interface Written {
  namespace?: string
  times?: Partial<SessionTimes>
  /** in the index of an indexed repository */
  user?: string
  id?: string
  /** as a JSON serialiser writes numbers */
  json?: boolean
}

/** A session as Spring Session's repositories write it (FIELD-NOTES.md 4); its id. */
export async function writeSession(
  client: Redis | Cluster,
  { namespace = 'spring:session', times: of, user, id = randomUUID(), json = false }: Written,
): Promise<string> {
  const times = session(of)
  const key = sessionKeys.session(namespace, id)
  const long = (value: number): Buffer | string => (json ? String(value) : javaLong(value))
  await client.hset(key, {
    'sessionAttr:SPRING_SECURITY_CONTEXT': Buffer.from(`never to be read ${'x'.repeat(40)}`),
    ...(times.creationTime === null ? {} : { creationTime: long(times.creationTime) }),
    ...(times.lastAccessedTime === null ? {} : { lastAccessedTime: long(times.lastAccessedTime) }),
    ...(times.maxInactiveSeconds === null
      ? {}
      : { maxInactiveInterval: json ? String(times.maxInactiveSeconds) : javaInteger(times.maxInactiveSeconds) }),
  })
  if (times.ttlMs !== null) await client.pexpire(key, times.ttlMs)
  if (user === undefined) return id
  await client.set(sessionKeys.expires(namespace, id), '')
  await client.sadd(sessionKeys.expirations(namespace, '1700000000000'), javaString(`expires:${id}`))
  await client.zadd(sessionKeys.sortedExpirations(namespace), 1, id)
  await client.sadd(sessionKeys.userIndex(namespace, user), json ? JSON.stringify(id) : javaString(id))
  return id
}

/** Very many of one kind, in few round trips. */
export async function writeMany(client: Redis, count: number, namespace = 'spring:session'): Promise<void> {
  const now = Date.now()
  const fields = {
    creationTime: javaLong(now),
    lastAccessedTime: javaLong(now),
    maxInactiveInterval: javaInteger(1800),
  }
  for (let at = 0; at < count; at += 5000) {
    const pipeline = client.pipeline()
    for (let of = at; of < Math.min(count, at + 5000); of += 1)
      pipeline.hset(sessionKeys.session(namespace, randomUUID()), fields)
    await pipeline.exec()
  }
}

function javaString(text: string): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(text.length)
  return Buffer.concat([Buffer.from('aced000574', 'hex'), length, Buffer.from(text)])
}
