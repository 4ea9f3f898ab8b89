import { randomUUID } from 'node:crypto'
import type { ChainableCommander, Redis } from 'ioredis'
import { limits } from '../../../knowledge/limits.ts'
import type { Clock } from '../machine.ts'
import type { ServiceSettings } from '../settings.ts'
import { StoreFailure } from './store.ts'

/** One web session. Times in epoch milliseconds by the clock of the service that wrote it. */
export interface Session {
  id: string
  creationTime: number
  lastAccessedTime: number
  maxInactiveSeconds: number
  csrfToken: string | null
  /** null: not signed in */
  username: string | null
}

/** `absent`: the store has no such key; `stale`: by the service's clock, it has expired or is not yet active. */
type FoundSession = { status: 'valid'; session: Session } | { status: 'stale' } | { status: 'absent' }

/**
 * True if the session has expired, by the rule of Spring's MapSession (FIELD-NOTES.md 4), or is "not yet active"
 * (SPEC.md 7). One second ahead is allowed, since two clocks always differ a little.
 */
function isStale({ creationTime, lastAccessedTime, maxInactiveSeconds }: Session, now: number): boolean {
  const expired = maxInactiveSeconds >= 0 && now - maxInactiveSeconds * 1000 >= lastAccessedTime
  return expired || creationTime > now + 1000
}

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

/** The keys that RedisIndexedSessionRepository keeps besides a session's hash (FIELD-NOTES.md 4). */
interface IndexedKeys {
  write(writes: ChainableCommander, session: Session, isNew: boolean): void
  remove(writes: ChainableCommander, session: Session): void
}

const principalIndex = 'org.springframework.session.FindByIndexNameSessionRepository.PRINCIPAL_NAME_INDEX_NAME'

function indexedKeys(namespace: string, database: number): IndexedKeys {
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

const stream = 'aced0005'
const numberClass = '787200106a6176612e6c616e672e4e756d62657286ac951d0b94e08b0200007870'
const longHead = Buffer.from(
  `${stream}7372000e6a6176612e6c616e672e4c6f6e673b8be490cc8f23df0200014a000576616c7565${numberClass}`,
  'hex',
)
const integerHead = Buffer.from(
  `${stream}737200116a6176612e6c616e672e496e746567657212e2a0a4f781873802000149000576616c7565${numberClass}`,
  'hex',
)
const stringHead = Buffer.from(`${stream}74`, 'hex')

/** Serialises a java.lang.Long as the JDK does: 82 bytes (FIELD-NOTES.md 4). */
export function javaLong(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(BigInt(Math.trunc(value)))
  return Buffer.concat([longHead, bytes])
}

/** Serialises a java.lang.Integer as the JDK does: 81 bytes. */
export function javaInteger(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return Buffer.concat([integerHead, bytes])
}

/** Serialises a java.lang.String of up to 65,535 bytes as the JDK does. */
export function javaString(value: string): Buffer {
  const text = Buffer.from(value, 'utf8')
  const length = Buffer.alloc(2)
  length.writeUInt16BE(text.length)
  return Buffer.concat([stringHead, length, text])
}

/** Reads a java.lang.Long; null if the bytes are not one. */
export function readLong(bytes: Buffer | null | undefined): number | null {
  if (!bytes || bytes.length !== longHead.length + 8 || !bytes.subarray(0, longHead.length).equals(longHead))
    return null
  return Number(bytes.readBigInt64BE(longHead.length))
}

export function readInteger(bytes: Buffer | null | undefined): number | null {
  if (!bytes || bytes.length !== integerHead.length + 4 || !bytes.subarray(0, integerHead.length).equals(integerHead))
    return null
  return bytes.readInt32BE(integerHead.length)
}

export function readString(bytes: Buffer | null | undefined): string | null {
  if (!bytes || bytes.length < stringHead.length + 2 || !bytes.subarray(0, stringHead.length).equals(stringHead))
    return null
  return bytes.subarray(stringHead.length + 2).toString('utf8')
}
