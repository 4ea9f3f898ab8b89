import { Redis } from 'ioredis'
import { messageOf } from '../../../core/error.ts'
import type { Log, Throwable } from '../log/log.ts'
import { throwable } from '../log/log.ts'
import type { ServiceSettings } from '../settings.ts'

const watchdog = 'io.lettuce.core.protocol.ConnectionWatchdog'

export interface SessionStore {
  redis: Redis
  close(): void
}

/**
 * Connects in the background, and reconnects after each loss, as Lettuce does. Commands fail at once while there is no
 * connection.
 */
export function openStore(
  { host, port, database, password }: ServiceSettings['redis'],
  indexed: boolean,
  log: Log,
): SessionStore {
  const here = log.from('lettuce-eventLoop-1')
  const redis = new Redis({
    host,
    port,
    db: database,
    ...(password ? { password: password.reveal() } : {}),
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 10_000,
    commandTimeout: 10_000,
    retryStrategy: () => 1000,
    reconnectOnError: () => false,
  })
  let lost = false
  let closing = false
  redis.on('close', () => {
    if (!lost && !closing) here.info(watchdog, `Reconnecting, last destination was ${host}/<unresolved>:${port}`)
    lost = true
  })
  redis.on('error', (error) =>
    here.warn(watchdog, `Cannot reconnect to [${host}/<unresolved>:${port}]: ${messageOf(error).split('\n')[0]}`),
  )
  redis.on('ready', () => {
    if (lost) here.info('io.lettuce.core.protocol.ReconnectionHandler', `Reconnected to ${host}/<unresolved>:${port}`)
    lost = false
    if (indexed) void announceExpiry(redis, here)
  })
  const close = (): void => {
    closing = true
    redis.disconnect()
  }
  return { redis, close }
}

/** Asks the store to announce expired keys, as Spring Session does. Managed stores refuse that (FIELD-NOTES.md 4). */
async function announceExpiry(redis: Redis, log: Log): Promise<void> {
  try {
    await redis.config('SET', 'notify-keyspace-events', 'Egx')
  } catch (error) {
    log.warn(
      'org.springframework.session.data.redis.config.ConfigureNotifyKeyspaceEventsAction',
      `Unable to configure Redis to keyspace notifications: ${messageOf(error)}`,
    )
  }
}

/** The store did not carry out a command. */
export class StoreFailure extends Error {
  override readonly name = 'StoreFailure'
  readonly thrown: Throwable

  constructor(cause: unknown) {
    super(messageOf(cause), { cause })
    this.thrown = redisException(cause)
  }
}

/** Returns the real reason of an aborted transaction: its first refused command. */
function reasonOf(error: unknown): unknown {
  const before = error instanceof Error && 'previousErrors' in error ? error.previousErrors : null
  return Array.isArray(before) && before.length > 0 ? (before[0] as unknown) : error
}

/** Turns an error of the store's client into the exception that Spring Data Redis would throw. */
export function redisException(error: unknown): Throwable {
  const message = messageOf(reasonOf(error))
  if (/^[A-Z]+ /.test(message)) {
    return throwable(
      'org.springframework.data.redis.RedisSystemException',
      'Error in execution',
      [
        'org.springframework.data.redis.connection.lettuce.LettuceExceptionConverter.convert' +
          '(LettuceExceptionConverter.java:52)',
      ],
      throwable('io.lettuce.core.RedisCommandExecutionException', message, []),
    )
  }
  return throwable(
    'org.springframework.data.redis.RedisConnectionFailureException',
    'Unable to connect to Redis',
    ['org.springframework.data.redis.core.RedisConnectionUtils.fetchConnection(RedisConnectionUtils.java:195)'],
    throwable('io.lettuce.core.RedisConnectionException', message, []),
  )
}
