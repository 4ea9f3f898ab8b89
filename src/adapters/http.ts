import { randomBytes } from 'node:crypto'
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, RequestOptions } from 'node:http'
import type { Socket } from 'node:net'
import type { Reach } from '../core/endpoint.ts'
import { AdminError } from '../core/error.ts'
import type { Suggestion } from '../core/shell-command.ts'
import type { Peer } from './failure.ts'
import { hostPort, peerFailure, systemCode, withDeadline } from './failure.ts'
import type { Route } from './http-route.ts'
import { bare, openRoute, portOf, proxyRefusal } from './http-route.ts'
import { certificateWanted, isHandshakeFailure } from './tls.ts'

/** The request under way, to abort it directly; a signal would take as long as several requests. */
export interface Held {
  request: ClientRequest | null
}

interface Sending {
  /** Path below the base address, with its query */
  path: string
  options: RequestOptions
  body?: string | undefined
  /** True if it may be sent again when a kept connection turns out to be closed */
  repeatable: boolean
  /** Sees the request before it is sent; may end the wait with an error */
  watch?: (request: ClientRequest, fail: (error: Error) => void) => void
  /** Returns the error to throw for one of the connection */
  failure?: (error: Error) => Error
}

/**
 * Sends one request along a route and returns its answer, of any status, as soon as its head is there. The one rule for
 * retries: a server may close a kept connection just as it is used again. Throws what the connection fails with.
 */
export async function sendHttp(
  { request, agent }: Pick<Route, 'request' | 'agent'>,
  base: URL,
  sending: Sending,
  held: Held,
): Promise<IncomingMessage> {
  const { path, options, body, repeatable, watch, failure = (error) => error } = sending
  try {
    return await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = request(base, {
        agent,
        ...options,
        path: `${base.pathname.replace(/(?<!\/)\/+$/, '')}${path}`,
        headers: { host: base.host, accept: 'application/json', 'user-agent': 'testops-admin', ...options.headers },
      })
      held.request = sent
      watch?.(sent, reject)
      sent.on('response', resolve)
      sent.on('error', (error) => reject(failure(error)))
      sent.end(body)
    })
  } catch (error) {
    const again = held.request?.reusedSocket === true && repeatable && systemCode(error) === 'ECONNRESET'
    if (again) return sendHttp({ request, agent }, base, sending, held)
    throw error
  }
}

interface HttpRequest {
  method?: 'GET' | 'POST'
  headers?: Readonly<Record<string, string>>
  form?: Readonly<Record<string, string>>
  /** True if it may be sent again when a kept connection turns out to be closed; by default, true for GET */
  repeatable?: boolean
  /** Aborting it ends the request, which throws the reason */
  signal?: AbortSignal
  /** Called when the connection is ready: from then on the server may have read the request */
  sent?: (socket: Socket) => void
}

export interface HttpAnswer {
  status: number
  headers: Readonly<Record<string, string>>
  text: string
  durationMs: number
}

export interface HttpClient {
  peer: Peer
  /** `path` is added to the base address as it is. Redirects are never followed: they could carry tokens elsewhere. */
  request: (path: string, request?: HttpRequest) => Promise<HttpAnswer>
  close: () => Promise<void>
}

interface HttpOptions {
  /** the peer's name in error messages */
  what: string
  /** without credentials; may have a path and a trailing slash */
  baseUrl: string
  /** Commands to suggest in errors */
  suggestions: readonly Suggestion[]
  ca: string | null
  /** False to accept any certificate */
  verify: boolean
  timeoutMs: number
  /** Milliseconds for the connection alone, for callers who need time to try something else */
  connectMs?: number
  maxBytes: number
  /** Another way to the server, which bypasses proxies */
  reach?: Reach | undefined
}

/**
 * Opens a client for one server that keeps its connections, through the proxy that the environment names. Requests
 * accept any status. They throw UNREACHABLE, TIMED_OUT and UNEXPECTED_ANSWER (cut off, or longer than `maxBytes`).
 * Throws CONFIGURATION.
 */
export async function openHttp(options: HttpOptions): Promise<HttpClient> {
  const { what, timeoutMs, connectMs = timeoutMs, maxBytes } = options
  const base = options.baseUrl.replace(/(?<!\/)\/+$/, '')
  const url = parseBase(base, what)
  const { reach, suggestions } = options
  const peer: Peer = { what, host: bare(url.hostname), port: portOf(url), where: base, suggestions, reach }
  const way = (await reach?.({ host: peer.host, port: peer.port })) ?? null
  const route = await openRoute(url, { verify: options.verify, ca: options.ca }, way)

  const ask = async (path: string, request: HttpRequest, held: HeldRequest): Promise<HttpAnswer> => {
    const started = performance.now()
    const answer = await send(url, { ...request, path, connectMs }, route, peer, held)
    if (route.proxy && answer.statusCode === 407) throw proxyRefusal(route.proxy, 407, peer)
    const durationMs = performance.now() - started
    const text = await readBody(answer, maxBytes, peer)
    return { status: answer.statusCode ?? 0, headers: plain(answer.headers), text, durationMs }
  }

  return {
    peer,
    async request(path, request = {}) {
      const { proxy } = route
      const held: HeldRequest = { request: null, isThrough: proxy === null }
      const { method = 'GET', signal } = request
      // messages show the method unless it is GET
      const how = [
        ...(method === 'GET' ? [] : [method]),
        ...(proxy ? [`through the proxy ${hostPort(proxy.host, proxy.port)}`] : []),
      ].join(', ')
      const target = { ...peer, where: `${base}${path.split('?')[0]}${how === '' ? '' : ` (${how})`}` }
      const next = { ...target, ...proxy }
      signal?.throwIfAborted()
      try {
        return await withDeadline(ask(path, request, held), timeoutMs, next, {
          abandon: () => held.request?.destroy(),
          ...(signal && { signal }),
        })
      } catch (error) {
        signal?.throwIfAborted()
        const isThrough = held.isThrough || held.request?.reusedSocket === true
        throw proxy && !isThrough ? atProxy(httpFailure(error, next), proxy) : httpFailure(error, target)
      }
    },
    async close() {
      route.agent.destroy()
    },
  }
}

/** Marks an error as the proxy's, not the server's. */
function atProxy({ code, message, suggestions, cause }: AdminError, proxy: NonNullable<Route['proxy']>): AdminError {
  return new AdminError(code, message, suggestions, { cause, obstacle: { kind: 'proxy', ...proxy } })
}

/** How far the request under way has come. */
interface HeldRequest extends Held {
  /** True once past the proxy, or if there is none */
  isThrough: boolean
  /** True once there are keys: both sides have agreed on what comes before, including ciphers */
  isKeyed?: boolean
}

async function send(
  url: URL,
  request: HttpRequest & { path: string; connectMs: number },
  route: Route,
  peer: Peer,
  held: HeldRequest,
): Promise<IncomingMessage> {
  const { path, method = 'GET', headers = {}, form, repeatable = method === 'GET' } = request
  const content = form === undefined ? null : multipart(form)
  const sending: Sending = {
    path,
    options: {
      ...route.tls,
      ...route.place,
      method,
      headers: { ...content?.headers, ...headers },
    },
    body: content?.body,
    repeatable,
    watch(sent, fail) {
      sent.once('proxyConnect', ({ statusCode = 200 }: { statusCode?: number }) => {
        held.isThrough = statusCode === 200
        if (route.proxy && !held.isThrough) fail(proxyRefusal(route.proxy, statusCode, peer))
      })
      sent.once('socket', (socket: Socket & { secureConnecting?: boolean }) => {
        if (socket.secureConnecting === true) socket.once('keylog', () => void (held.isKeyed = true))
        onceConnected(socket, request.sent)
        connectWithin(socket, request.connectMs)
      })
    },
    failure: (error) =>
      held.isKeyed === true && isHandshakeFailure(error)
        ? Object.assign(new Error('certificate wanted', { cause: error }), { code: certificateWanted })
        : error,
  }
  return sendHttp(route, url, sending, held)
}

function onceConnected(
  socket: Socket & { secureConnecting?: boolean },
  connected: (socket: Socket) => void = () => undefined,
): void {
  if (socket.secureConnecting === true) socket.once('secureConnect', () => connected(socket))
  else if (socket.connecting) socket.once('connect', () => connected(socket))
  else connected(socket)
}

/** Limits the time to connect: a firewall that drops packets never answers. */
function connectWithin(socket: Socket, connectMs: number): void {
  if (!socket.connecting) return
  const timer = setTimeout(
    () => socket.destroy(Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' })),
    connectMs,
  )
  for (const event of ['connect', 'close']) socket.once(event, () => clearTimeout(timer))
}

/** Parses an answer as JSON; undefined if it is not JSON. */
export function jsonOf({ text }: Pick<HttpAnswer, 'text'>): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parseBase(base: string, what: string): URL {
  const url = URL.canParse(base) ? new URL(base) : null
  if (url && (url.protocol === 'http:' || url.protocol === 'https:') && url.hostname !== '') return url
  throw new AdminError('CONFIGURATION', `the address of ${what} is not an http or https address: ${base}`)
}

function multipart(fields: Readonly<Record<string, string>>): { headers: Record<string, string>; body: string } {
  const boundary = `testops-admin-${randomBytes(12).toString('hex')}`
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  return {
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: `${parts.join('')}--${boundary}--\r\n`,
  }
}

async function readBody(body: AsyncIterable<unknown>, maxBytes: number, peer: Peer): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      length += chunk.length
      if (length > maxBytes) {
        throw new AdminError(
          'UNEXPECTED_ANSWER',
          `the answer from ${peer.what} at ${peer.where} is too large: more than ${maxBytes} bytes`,
          peer.suggestions,
        )
      }
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof AdminError) throw error
    throw new AdminError(
      'UNEXPECTED_ANSWER',
      `the answer from ${peer.what} at ${peer.where} was cut off after ${length} bytes`,
      peer.suggestions,
      { cause: error },
    )
  }
  return Buffer.concat(chunks).toString('utf8')
}

function httpFailure(error: unknown, peer: Peer): AdminError {
  if (error instanceof AdminError) return error
  const fail = (message: string): AdminError =>
    new AdminError('UNEXPECTED_ANSWER', message, peer.suggestions, { cause: error })
  const code = systemCode(error) ?? ''
  if (code === 'HPE_HEADER_OVERFLOW')
    return fail(`the headers in the answer from ${peer.what} at ${peer.where} are too long`)
  if (code.startsWith('HPE_')) return fail(`the server at ${hostPort(peer.host, peer.port)} does not speak HTTP`)
  return peerFailure(error, peer)
}

function plain(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  )
}
