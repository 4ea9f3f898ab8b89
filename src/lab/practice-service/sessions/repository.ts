import { randomUUID } from 'node:crypto'
import type { ChainableCommander, Redis } from 'ioredis'
import type { Clock } from '../clock.ts'
import type { ServiceSettings } from '../settings.ts'
import { indexedKeys } from './indexed.ts'
import { javaInteger, javaLong, javaString, readInteger, readLong, readString } from './java-values.ts'
import { isStale } from './session.ts'
import type { FoundSession, Session } from './session.ts'
import { StoreFailure } from './store.ts'

const attribute = { csrf: 'sessionAttr:CSRF_TOKEN', user: 'sessionAttr:SPRING_SECURITY_CONTEXT' } as const

export interface SessionRepository {
  /** writes a new session; rejects if the store is missing or full */
  create(username: string | null): Promise<Session>
  find(id: string): Promise<FoundSession>
  /** records that the session was used */
  touch(session: Session): Promise<void>
  remove(session: Session): Promise<void>
}

/** Keeps sessions in Redis in Spring Session's format (FIELD-NOTES.md 4), dated and checked by the service's clock. */
export function sessionRepository(
  redis: Redis,
  settings: ServiceSettings['sessions'],
  database: number,
  clock: Clock,
): SessionRepository {
  const { namespace, indexed, maxInactiveSeconds } = settings
  const keyOf = (id: string): string => `${namespace}:sessions:${id}`
  const keys = indexed ? indexedKeys(namespace, database) : null

  const ask = async <T>(command: Promise<T>): Promise<T> => {
    try {
      return await command
    } catch (error) {
      throw new StoreFailure(error)
    }
  }
  const run = async (writes: ChainableCommander): Promise<void> => {
    const refused = (await ask(writes.exec()))?.find(([error]) => error !== null)
    if (refused) throw new StoreFailure(refused[0])
  }
  const write = async (session: Session, isNew: boolean): Promise<void> => {
    const writes = redis.multi().hset(keyOf(session.id), fields(session))
    if (keys) keys.write(writes, session, isNew)
    else writes.expireat(keyOf(session.id), Math.floor(session.lastAccessedTime / 1000) + session.maxInactiveSeconds)
    await run(writes)
  }
  return {
    create: async (username) => {
      const now = clock.now()
      const session = {
        id: randomUUID(),
        creationTime: now,
        lastAccessedTime: now,
        maxInactiveSeconds,
        csrfToken: randomUUID(),
        username,
      }
      await write(session, true)
      return session
    },
    find: async (id) => {
      const session = parse(id, await ask(redis.hgetallBuffer(keyOf(id))))
      if (!session) return { status: 'absent' }
      return isStale(session, clock.now()) ? { status: 'stale' } : { status: 'valid', session }
    },
    touch: (session) => write({ ...session, lastAccessedTime: clock.now() }, false),
    remove: async (session) => {
      const writes = redis.multi().del(keyOf(session.id))
      keys?.remove(writes, session)
      await run(writes)
    },
  }
}

function fields(session: Session): Record<string, Buffer> {
  return {
    creationTime: javaLong(session.creationTime),
    lastAccessedTime: javaLong(session.lastAccessedTime),
    maxInactiveInterval: javaInteger(session.maxInactiveSeconds),
    ...(session.csrfToken === null ? {} : { [attribute.csrf]: javaString(session.csrfToken) }),
    ...(session.username === null ? {} : { [attribute.user]: javaString(session.username) }),
  }
}

function parse(id: string, hash: Record<string, Buffer>): Session | null {
  const creationTime = readLong(hash['creationTime'])
  const lastAccessedTime = readLong(hash['lastAccessedTime'])
  const maxInactiveSeconds = readInteger(hash['maxInactiveInterval'])
  if (creationTime === null || lastAccessedTime === null || maxInactiveSeconds === null) return null
  return {
    id,
    creationTime,
    lastAccessedTime,
    maxInactiveSeconds,
    csrfToken: readString(hash[attribute.csrf]),
    username: readString(hash[attribute.user]),
  }
}
