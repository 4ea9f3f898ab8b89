import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { AdminError } from '../../core/error.ts'
import type { Clock } from './clock.ts'

/**
 * The lab's own door, on loopback and never asked by a check:
 *
 *     GET  /state               {phase, clockOffsetMs, responseDelayMs, broker}
 *     POST /clock  {"ms": n}    how far the machine's clock is ahead from now on
 *     POST /delay  {"ms": n}    milliseconds before each answer from now on
 *
 * `phase` is starting, waiting-for-lock, migrating, running or stopping. The door is open while the service still starts.
 */
export interface Controlled {
  phase: 'starting' | 'waiting-for-lock' | 'migrating' | 'running' | 'stopping'
  clock: Clock
  responseDelayMs: number
  broker: () => string
}

export interface ControlServer {
  port: number
  close(): Promise<void>
}

/** Opens the door on 127.0.0.1. Throws UNAVAILABLE where the port is taken. */
export async function openControl(port: number, controlled: Controlled): Promise<ControlServer> {
  const server = createServer((request, response) => {
    void answer(request, controlled).then(({ status, body }) => {
      response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(JSON.stringify(body))
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(portTaken(port, cause)))
    server.listen({ host: '127.0.0.1', port }, resolve)
  })
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function portTaken(port: number, cause: unknown): AdminError {
  return new AdminError('UNAVAILABLE', `Port ${port}, for the control of the practice service, is taken`, [], { cause })
}

async function answer(request: IncomingMessage, controlled: Controlled): Promise<{ status: number; body: unknown }> {
  if (request.method === 'POST') {
    const ms = await milliseconds(request)
    if (ms === null) return { status: 400, body: { error: 'send {"ms": number}' } }
    if (request.url === '/clock') controlled.clock.offsetMs = ms
    else if (request.url === '/delay') controlled.responseDelayMs = Math.max(0, ms)
    else return { status: 404, body: { error: 'not found' } }
  } else if (request.url !== '/state') return { status: 404, body: { error: 'not found' } }
  const { phase, clock, responseDelayMs, broker } = controlled
  return { status: 200, body: { phase, clockOffsetMs: clock.offsetMs, responseDelayMs, broker: broker() } }
}

async function milliseconds(request: IncomingMessage): Promise<number | null> {
  try {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const body = JSON.parse(text) as { ms?: unknown }
    return typeof body.ms === 'number' && Number.isFinite(body.ms) ? body.ms : null
  } catch {
    return null
  }
}
