import type { ChainableCommander } from 'ioredis'
import { limits } from '../../../knowledge/limits.ts'
import { javaString } from './java-values.ts'
import type { Session } from './session.ts'

/** The keys that RedisIndexedSessionRepository keeps besides a session's hash (FIELD-NOTES.md 4). */
export interface IndexedKeys {
  write(writes: ChainableCommander, session: Session, isNew: boolean): void
  remove(writes: ChainableCommander, session: Session): void
}

const principalIndex = 'org.springframework.session.FindByIndexNameSessionRepository.PRINCIPAL_NAME_INDEX_NAME'

export function indexedKeys(namespace: string, database: number): IndexedKeys {
  const hash = (id: string): string => `${namespace}:sessions:${id}`
  const expires = (id: string): string => `${namespace}:sessions:expires:${id}`
  const index = (username: string): string => `${namespace}:index:${principalIndex}:${username}`
  const minute = (session: Session): string => {
    const end = session.lastAccessedTime + session.maxInactiveSeconds * 1000
    return `${namespace}:expirations:${Math.ceil((end + 1) / 60_000) * 60_000}`
  }
  return {
    write: (writes, session, isNew) => {
      const grace = session.maxInactiveSeconds + limits.indexedSessionGraceSeconds
      writes.sadd(minute(session), javaString(`expires:${session.id}`))
      writes.expire(minute(session), grace)
      writes.set(expires(session.id), '', 'EX', session.maxInactiveSeconds)
      writes.expire(hash(session.id), grace)
      if (session.username !== null) writes.sadd(index(session.username), javaString(session.id))
      if (isNew) writes.publish(`${namespace}:event:${database}:created:${session.id}`, '')
    },
    remove: (writes, session) => {
      writes.del(expires(session.id))
      writes.srem(minute(session), javaString(`expires:${session.id}`))
      if (session.username !== null) writes.srem(index(session.username), javaString(session.id))
    },
  }
}
