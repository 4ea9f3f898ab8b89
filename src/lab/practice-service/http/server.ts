import type { RequestListener, Server } from 'node:http'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { throwable } from '../log/log.ts'
import { StartupFailure } from '../startup-failure.ts'
import { loginRoutes, uaaRoutes } from './authentication.ts'
import type { RequestState, ServiceContext } from './context.ts'
import { logFailure, springError } from './errors.ts'
import { healthRoutes } from './health.ts'
import { reportRoutes } from './report.ts'

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
