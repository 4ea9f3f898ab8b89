import { setTimeout as sleep } from 'node:timers/promises'
import { Hono } from 'hono'
import { PoolTimeout, sqlException } from '../database/pool.ts'
import { summary } from '../log/log.ts'
import { redisException } from '../sessions/store.ts'
import type { RequestState, ServiceContext } from './context.ts'

interface Component {
  status: 'UP' | 'DOWN'
  details?: Readonly<Record<string, string>>
}

const contentType = 'application/vnd.spring-boot.actuator.v3+json'

/**
 * Serves Spring Boot's health endpoint with its parts. The groups for probes report only the service itself
 * (FIELD-NOTES.md 1.1).
 */
export function healthRoutes(context: ServiceContext): Hono<RequestState> {
  const app = new Hono<RequestState>()
  app.get('/api/management/health', async (c) => {
    const [db, redis] = await Promise.all([databaseHealth(context), redisHealth(context)])
    const up: Component = { status: 'UP' }
    const components = { db, livenessState: up, ping: up, rabbit: rabbitHealth(context), readinessState: up, redis }
    const status = Object.values(components).every((component) => component.status === 'UP') ? 'UP' : 'DOWN'
    c.header('Content-Type', contentType)
    return c.body(
      JSON.stringify({ status, components, groups: ['liveness', 'readiness'] }),
      status === 'UP' ? 200 : 503,
    )
  })
  for (const group of ['liveness', 'readiness']) {
    app.get(`/api/management/health/${group}`, (c) => {
      c.header('Content-Type', contentType)
      return c.body(JSON.stringify({ status: 'UP' }))
    })
  }
  return app
}

async function databaseHealth({ database, settings }: ServiceContext): Promise<Component> {
  try {
    await within(settings.database.connectionTimeoutMs + 5000, database.query('SELECT 1'))
    return { status: 'UP', details: { database: 'PostgreSQL', validationQuery: 'isValid()' } }
  } catch (error) {
    const cause = error instanceof PoolTimeout ? error.thrown : sqlException(error, settings.database)
    return {
      status: 'DOWN',
      details: {
        error:
          'org.springframework.jdbc.CannotGetJdbcConnectionException: Failed to obtain JDBC Connection ' +
          `(${summary(cause)})`,
      },
    }
  }
}

async function redisHealth({ redis }: ServiceContext): Promise<Component> {
  try {
    // Redis answers INFO while the connection is still opening, when no session can be read yet
    await within(10_000, redis.ping())
    const information = await within(10_000, redis.info('server'))
    return { status: 'UP', details: { version: /redis_version:(\S+)/.exec(information)?.[1] ?? 'unknown' } }
  } catch (error) {
    return { status: 'DOWN', details: { error: summary(redisException(error)) } }
  }
}

function rabbitHealth({ broker }: ServiceContext): Component {
  const state = broker()
  if (state.status === 'up') return { status: 'UP', details: { version: state.version } }
  return {
    status: 'DOWN',
    details: {
      error: state.status === 'down' ? state.error : 'org.springframework.amqp.AmqpConnectException: not connected',
    },
  }
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const timer = new AbortController()
  const late = sleep(ms, undefined, { signal: timer.signal }).then(() => Promise.reject(new Error('timeout')))
  // the loser of the race must not become an unhandled rejection
  late.catch(() => undefined)
  work.catch(() => undefined)
  try {
    return await Promise.race([work, late])
  } finally {
    timer.abort()
  }
}
