import { randomBytes } from 'node:crypto'
import type { BrokerEndpoint } from '../../src/core/endpoint.ts'
import { Secret } from '../../src/core/secret.ts'
import type { RabbitmqLine, ServerRecord } from '../../src/lab/servers/index.ts'
import { servers } from './servers.ts'

export interface FreshVhost {
  vhost: string
  endpoint: BrokerEndpoint
  /** `amqp://USER:PASSWORD@HOST:PORT/VHOST` */
  url: string
  /** Calls the broker's HTTP API as its administrator; throws on any answer but 2xx. `path` begins with /api */
  manage(method: string, path: string, body?: unknown): Promise<unknown>
  /** Removes the virtual host and its user */
  cleanup(): Promise<void>
}

/**
 * Creates a virtual host for the caller alone, with a user that has all rights in it and sees it in the HTTP API.
 * `on`: another broker than the shared one of that line. `named`: prefix of its name.
 */
export async function freshVhost(
  line: RabbitmqLine,
  on: ServerRecord = shared(line),
  named = 'test',
): Promise<FreshVhost> {
  const user = `test-${randomBytes(6).toString('hex')}`
  const vhost = user.replace('test', () => named)
  const path = encodeURIComponent(vhost)
  const password = randomBytes(9).toString('hex')
  const manage: FreshVhost['manage'] = (method, asked, body) => ask(on, method, asked, body)
  await manage('PUT', `/api/vhosts/${path}`)
  await manage('PUT', `/api/users/${user}`, { password, tags: 'monitoring' })
  for (const name of [user, on.user]) {
    await manage('PUT', `/api/permissions/${path}/${name}`, { configure: '.*', write: '.*', read: '.*' })
  }
  return {
    vhost,
    endpoint: {
      host: on.host,
      port: on.port,
      vhost,
      user,
      password: new Secret(password),
      tls: { mode: 'disable', ca: null },
      managementUrl: on.managementUrl ?? null,
    },
    url: `amqp://${user}:${password}@${on.host}:${on.port}/${path}`,
    manage,
    async cleanup() {
      await manage('DELETE', `/api/vhosts/${path}`)
      await manage('DELETE', `/api/users/${user}`)
    },
  }
}

function shared(line: RabbitmqLine): ServerRecord {
  if (line === '3') return servers().rabbitmq3
  if (line === '4.3') return servers().rabbitmq43
  throw new Error(`the tests share no RabbitMQ ${line}: start one`)
}

/** Milliseconds to wait for an answer: a 3.x broker was seen not to answer the deletion of a vhost with 1000 queues */
const answerTimeoutMs = 45_000

async function ask(server: ServerRecord, method: string, path: string, body?: unknown): Promise<unknown> {
  const first = await send(server, method, path, body).catch((error: unknown) => {
    if (error instanceof Error && error.name === 'TimeoutError') return null
    throw error
  })
  const answer = first ?? (await send(server, method, path, body))
  const isGone = first === null && method === 'DELETE' && answer.status === 404
  if (!answer.ok && !isGone) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
  return answer.ok && answer.text ? (JSON.parse(answer.text) as unknown) : null
}

async function send(
  server: ServerRecord,
  method: string,
  path: string,
  body: unknown,
): Promise<{ ok: boolean; status: number; text: string }> {
  const credentials = Buffer.from(`${server.user}:${server.password}`).toString('base64')
  const answer = await fetch(`${server.managementUrl}${path}`, {
    method,
    headers: { authorization: `Basic ${credentials}`, 'content-type': 'application/json' },
    signal: AbortSignal.timeout(answerTimeoutMs),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { ok: answer.ok, status: answer.status, text: await answer.text() }
}
