import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { created, deleted, got, listed, patched, replaced, reviewed, scaled } from './answers.ts'
import type { Answer } from './answers.ts'
import type { Cluster } from './cluster.ts'
import { discovered } from './discovery.ts'
import { recordedCluster } from './cluster.ts'
import { answerExec } from './exec.ts'
import { answerLog } from './logs.ts'
import { protobufType, secretIn } from './protobuf.ts'
import { recording } from './recordings.ts'
import { askedBy, authorize, isAllowed } from './request.ts'
import type { Asked } from './request.ts'
import type { Pod } from './resources.ts'
import { Refused, badRequest, kubeletUnreachable } from './status.ts'
import { answerWatch } from './watch.ts'

export interface ApiServer {
  readonly url: string
  readonly cluster: Cluster
  /** `GET /apis/apps/v1/…` of each request, in their order */
  readonly requests: string[]
  /** takes requests over where it gives true: a server that hangs, a proxy that answers for it */
  instead: ((request: IncomingMessage, response: ServerResponse) => boolean) | null
  /** answers attach and port-forward; who asks is known, and allowed to */
  upgrade: ((asked: Asked, request: IncomingMessage, socket: Duplex, head: Buffer) => void) | null
  /** closes every connection, as where it goes away for a moment */
  breakOff(): void
  close(): Promise<void>
}

/** A Kubernetes API server, which answers as the recorded one did; over plain HTTP unless it has a certificate. */
export async function startApiServer(
  cluster: Cluster = recordedCluster(),
  tls: { cert: string; key: string } | null = null,
): Promise<ApiServer> {
  const sockets = new Set<Socket>()
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    server.requests.push(`${request.method} ${request.url}`)
    if (server.instead?.(request, response)) return
    answer(request, response, cluster).catch((error: unknown) => refuse(response, error))
  }
  const http = tls === null ? createServer(listener) : createTlsServer(tls, listener)
  http.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // the server has let go of it: a client that goes away at once is nobody's error
    socket.on('error', () => undefined)
    server.requests.push(`${request.method} ${request.url}`)
    try {
      const asked = askedBy(request, cluster)
      authorize(request, asked && { ...asked, verb: cluster.streamVerb }, cluster)
      if (asked?.name) cluster.get(asked.resource.plural, asked.namespace, asked.name)
      if (asked?.subresource === 'exec') return answerExec(asked, cluster, request, socket, head)
      if (
        asked?.subresource === 'portforward' &&
        cluster.isHidden('portforward', cluster.get('pods', asked.namespace, asked.name ?? '') as Pod)
      )
        throw kubeletUnreachable()
      if (!asked || !server.upgrade) throw badRequest('Upgrade request required')
      server.upgrade(asked, request, socket, head)
    } catch (error) {
      refuseUpgrade(socket, error)
    }
  })
  await new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', resolve))
  const server: ApiServer = {
    url: `${tls === null ? 'http' : 'https'}://127.0.0.1:${(http.address() as AddressInfo).port}`,
    cluster,
    requests: [],
    instead: null,
    upgrade: null,
    breakOff() {
      for (const socket of sockets) socket.destroy()
    },
    async close() {
      cluster.close()
      server.breakOff()
      await new Promise((resolve) => http.close(resolve))
    },
  }
  return server
}

async function answer(request: IncomingMessage, response: ServerResponse, cluster: Cluster): Promise<void> {
  const path = (request.url ?? '').split('?')[0] ?? ''
  if (path === '/version') return send(response, { status: 200, body: recording('version').response.body })
  const offered = request.method === 'GET' ? discovered(path, cluster.resources) : null
  if (offered) return send(response, { status: 200, body: offered })
  const asked = askedBy(request, cluster)
  const body =
    request.method === 'GET' || request.method === 'DELETE'
      ? null
      : bodyIn(await buffer(request), request.headers['content-type'] ?? '')
  authorize(request, asked, cluster)
  if (path === '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews' && request.method === 'POST') {
    return send(
      response,
      reviewed(body, (it) =>
        isAllowed(
          {
            verb: it['verb'] ?? '',
            resource: { plural: it['resource'] ?? '' },
            subresource: it['subresource'] ?? null,
            namespace: it['namespace'] ?? null,
          },
          cluster,
        ),
      ),
    )
  }
  if (!asked)
    return void response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' }).end('404 page not found\n')
  if (asked.verb === 'watch') return answerWatch(asked, cluster, response)
  if (asked.subresource === 'log') return answerLog(asked, cluster, response)
  send(response, answerTo(asked, request.headers['content-type'] ?? '', body, cluster))
}

/** An apply patch is YAML by its name, of which clients send the part that is JSON. */
function bodyIn(bytes: Buffer, type: string): unknown {
  if (type === protobufType) return secretIn(bytes)
  try {
    return JSON.parse(bytes.toString()) as unknown
  } catch {
    return null
  }
}

function answerTo(asked: Asked, type: string, body: unknown, cluster: Cluster): Answer {
  if (asked.subresource === 'scale') return scaled(asked, type, body, cluster)
  if (asked.subresource === 'exec' || asked.subresource === 'portforward') throw badRequest('Upgrade request required')
  switch (asked.verb) {
    case 'list':
      return listed(asked, cluster)
    case 'get':
      return got(asked, cluster)
    case 'create':
      return created(asked, body, cluster)
    case 'update':
      return replaced(asked, body, cluster)
    case 'patch':
      return patched(asked, type, body, cluster)
    case 'delete':
      return deleted(asked, cluster)
    default:
      throw badRequest(`the test's server knows no ${asked.verb}`)
  }
}

function send(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function refuse(response: ServerResponse, error: unknown): void {
  if (!(error instanceof Refused)) throw error
  send(response, { status: error.code, body: error.body })
}

function refuseUpgrade(socket: Duplex, error: unknown): void {
  if (!(error instanceof Refused)) throw error
  const body = JSON.stringify(error.body)
  const head = [
    `HTTP/1.1 ${error.code} ${error.reason ?? 'Internal Server Error'}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}
