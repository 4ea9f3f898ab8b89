import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { AdminError, messageOf } from '../../core/error.ts'
import type { Clock } from './machine.ts'
import type { TestCases } from './data/projects.ts'
import type { AnswerPlan } from './http/planned-answers.ts'

/**
 * The lab's own control port, on loopback; no check ever calls it:
 *
 * - GET /state: {phase, clockOffsetMs, responseDelayMs, broker}
 * - POST /clock {"ms": n}: sets how far the machine's clock is ahead
 * - POST /delay {"ms": n}: sets the milliseconds to wait before each answer
 * - POST /answers [...]: sets how calls are answered (http/planned-answers.ts); [] ends it
 * - GET /answers: how often each of these answers has been given
 * - POST /import {"projectId": n, "fullNames": [...]}: imports these tests' results; {"ids": [...]} of their test cases
 * - POST /move {"testCase": n, "projectId": n}: moves a test case; {"refusal": null}, or the service's message
 *
 * `phase` is starting, waiting-for-lock, migrating, running or stopping. The port is already open while the service
 * starts.
 */
export interface Controlled {
  phase: 'starting' | 'waiting-for-lock' | 'migrating' | 'running' | 'stopping'
  clock: Clock
  responseDelayMs: number
  answers: AnswerPlan
  broker: () => string
  /** null until the migration has finished */
  testCases: TestCases | null
}

export interface ControlServer {
  port: number
  close(): Promise<void>
}

/** Opens the control port on 127.0.0.1. Throws UNAVAILABLE if the port is taken. */
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
  return new AdminError('UNAVAILABLE', `port ${port}, which controls the practice service, is taken`, [], { cause })
}

interface Answer {
  status: number
  body: unknown
}

async function answer(request: IncomingMessage, controlled: Controlled): Promise<Answer> {
  const { clock, answers } = controlled
  const orders: Readonly<Record<string, (body: unknown) => unknown>> = {
    '/clock': (body) => (clock.offsetMs = milliseconds(body)),
    '/delay': (body) => (controlled.responseDelayMs = Math.max(0, milliseconds(body))),
    '/answers': (body) => answers.replace(body),
    '/import': async (body) => {
      const { projectId, fullNames } = body as { projectId: number; fullNames: string[] }
      return { ids: await controlled.testCases?.importResults(projectId, fullNames) }
    },
    '/move': async (body) => {
      const { testCase, projectId } = body as { testCase: number; projectId: number }
      return { refusal: await controlled.testCases?.move(testCase, projectId) }
    },
  }
  const state = (): unknown => {
    const { phase, responseDelayMs, broker } = controlled
    return { phase, clockOffsetMs: clock.offsetMs, responseDelayMs, broker: broker() }
  }
  if (request.method === 'GET') {
    if (request.url === '/answers') return { status: 200, body: answers.given() }
    return request.url === '/state' ? { status: 200, body: state() } : notFound
  }
  const obey = orders[request.url ?? '']
  if (!obey) return notFound
  try {
    const said = await obey(await bodyOf(request))
    return { status: 200, body: typeof said === 'object' ? said : state() }
  } catch (error) {
    return { status: 400, body: { error: messageOf(error) } }
  }
}

const notFound: Answer = { status: 404, body: { error: 'not found' } }

function milliseconds(body: unknown): number {
  const { ms } = (body ?? {}) as { ms?: unknown }
  if (typeof ms === 'number' && Number.isFinite(ms)) return ms
  throw new TypeError('send {"ms": number}')
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return JSON.parse(text)
}
