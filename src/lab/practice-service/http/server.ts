import type { RequestListener, Server } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { createServer } from 'node:http'
import { throwable } from '../log/throwable.ts'
import { StartupFailure } from '../startup-failure.ts'

export interface HttpServer {
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
