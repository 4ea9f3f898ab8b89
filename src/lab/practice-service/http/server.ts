import type { RequestListener, Server } from 'node:http'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { summary, throwable, StartupFailure } from '../log/log.ts'
import { loginRoutes, uaaRoutes } from './authentication.ts'
import type { RequestState, ServiceContext } from './context.ts'
import { logFailure, springError } from './errors.ts'
import { reportRoutes } from './report.ts'
import { PoolTimeout, sqlException } from '../database/pool.ts'
import { redisException } from '../sessions/store.ts'

interface HttpServer {
  port: number
  close(): Promise<void>
}

type Fetch = (request: Request) => Response | Promise<Response>
type Wrap = (listener: RequestListener) => RequestListener

/**
 * Opens the port; `before` handles calls ahead of the service. Throws StartupFailure if the port is taken, as Tomcat
 * does.
 */
export async function openHttp(fetch: Fetch, before: Wrap, address: string, port: number): Promise<HttpServer> {
  const server = createServer(before(getRequestListener(fetch, { overrideGlobalObjects: false }) as RequestListener))
  await new Promise<void>((resolve, reject) => {
    server.once('error', () => reject(portTaken(port)))
    server.listen({ host: address, port }, resolve)
  })
  return { port: portOf(server), close: () => closed(server) }
}

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

function portTaken(port: number): StartupFailure {
  return new StartupFailure(
    'webServerStartStop',
    throwable('org.springframework.boot.web.server.PortInUseException', `Port ${port} is already in use`, []),
    {
      description: `Web server failed to start. Port ${port} was already in use.`,
      action:
        `Identify and stop the process that's listening on port ${port} ` +
        'or configure this application to listen on another port.',
    },
  )
}

/** Creates the app with everything that the service answers over HTTP. */
export function createApp(context: ServiceContext): Hono<RequestState> {
  const app = new Hono<RequestState>()
  app.use(async (c, next) => {
    await sleep(context.delayMs())
    await next()
    c.header('Date', new Date(context.clock.now()).toUTCString())
  })
  app.route('/', healthRoutes(context))
  app.route('/', uaaRoutes(context))
  // older clients use the second prefix (FIELD-NOTES.md 7)
  for (const prefix of ['/api', '/api/rs']) app.route(prefix, reportRoutes(context))
  app.route('/', loginRoutes(context))
  app.get('/swagger-ui.html', (c) =>
    c.html(
      '<!doctype html><title>Swagger UI</title><label>Select a definition ' +
        '<select><option>Report Service<option>UAA Service<option>All Services</select></label><div ' +
        'id="swagger-ui"></div>',
    ),
  )
  app.notFound((c) => springError(c, context, 404, 'No message available'))
  app.onError((error, c) => {
    logFailure(error, context)
    return springError(c, context, 500, 'Internal Server Error')
  })
  return app
}

interface Component {
  status: 'UP' | 'DOWN'
  details?: Readonly<Record<string, string>>
}

const contentType = 'application/vnd.spring-boot.actuator.v3+json'

/**
 * Serves Spring Boot's health endpoint with its parts. The groups for probes report only the service itself
 * (FIELD-NOTES.md 1.1).
 */
function healthRoutes(context: ServiceContext): Hono<RequestState> {
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
