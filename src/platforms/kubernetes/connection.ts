import type { Agent, IncomingMessage } from 'node:http'
import type { SecureContext } from 'node:tls'
import { bare, keptConnections, parseProxy, portOf, proxyFor } from '../../adapters/http-route.ts'
import { sendHttp } from '../../adapters/http.ts'
import type { Held } from '../../adapters/http.ts'
import { hostPort, peerFailure, withDeadline } from '../../adapters/failure.ts'
import type { Peer } from '../../adapters/failure.ts'
import { AdminError, codeOf, messageOf } from '../../core/error.ts'
import { isLoopback } from '../../core/host.ts'
import { redactUrl } from '../../core/secret.ts'
import type { Access } from './access.ts'
import type { Credentials } from './credentials.ts'
import type { Suggestion } from '../../core/shell-command.ts'

interface Sent {
  method: string
  /** Path below the server's address, with its query */
  path: string
  contentType?: string | undefined
  body?: string | undefined
  credentials: Credentials
}

/** What to make a socket to the API server with, for a protocol other than HTTP. */
export interface SocketOptions extends Credentials {
  agent: Agent
  secureContext?: SecureContext
}

/** How long to wait for an answer, and what cancels it. */
interface Patience {
  timeoutMs: number
  signal?: AbortSignal | undefined
}

/** The way to an API server, with open connections. Throws UNREACHABLE, TIMED_OUT, UNEXPECTED_ANSWER, INTERRUPTED. */
export interface Connection {
  readonly peer: Peer
  /** Returns what `read` makes of the answer; the deadline covers both, and `signal` cancels them */
  exchange<T>(sent: Sent, read: (answer: IncomingMessage) => Promise<T>, patience: Patience): Promise<T>
  /** Returns an answer without end; no deadline applies after its head */
  stream(sent: Sent, patience: Patience): Promise<IncomingMessage>
  socketOptions(credentials: Credentials): SocketOptions
  close(): void
}

export async function openConnection(
  access: Access,
  { suggestions }: { suggestions: readonly Suggestion[] },
): Promise<Connection> {
  const url = new URL(access.cluster.server)
  const isTls = url.protocol === 'https:'
  const named = access.cluster.proxyUrl ?? (isLoopback(url.hostname) ? '' : proxyFor(url))
  const proxy = named === '' ? null : parseProxy(named)
  const route = await keptConnections(url, proxy)
  const next = proxy ?? url
  const [host, port] = [bare(next.hostname), portOf(next)]
  const server = redactUrl(access.cluster.server).replace(/(?<!\/)\/+$/, '')
  const peer: Peer = {
    what: 'Kubernetes',
    host,
    port,
    where: proxy === null ? server : `${server} through the proxy ${hostPort(host, port)}`,
    suggestions,
  }

  const contextOf = isTls ? await sharedContext() : () => undefined
  const socketOptions = ({ headers, ...given }: Credentials): SocketOptions => {
    const secureContext = contextOf(given)
    return {
      ...given,
      ...(secureContext && { secureContext }),
      agent: route.agent,
      headers: { 'user-agent': 'testops-admin', ...headers },
    }
  }

  const send = async (sent: Sent, held: Held): Promise<IncomingMessage> => {
    const { method, path, body, contentType = 'application/json', credentials } = sent
    const { headers, ...how } = socketOptions(credentials)
    const kind =
      body === undefined ? {} : { 'content-type': contentType, 'content-length': String(Buffer.byteLength(body)) }
    return sendHttp(
      route,
      url,
      { path, options: { ...how, method, headers: { ...headers, ...kind } }, body, repeatable: method === 'GET' },
      held,
    )
  }

  const inTime = async <T>(work: (held: Held) => Promise<T>, { timeoutMs, signal }: Patience): Promise<T> => {
    const held: Held = { request: null }
    if (signal?.aborted) throw interrupted(signal)
    try {
      return await withDeadline(work(held), timeoutMs, peer, {
        abandon: () => held.request?.destroy(),
        ...(signal && { signal }),
      })
    } catch (error) {
      if (signal?.aborted) throw interrupted(signal)
      throw isOwnPem(error)
        ? new AdminError(
            'CONFIGURATION',
            `the certificate or key for ${server} in ${access.file} cannot be used: ${messageOf(error)}`,
            ['kubectl config view'],
            { cause: error },
          )
        : peerFailure(error, peer)
    }
  }

  return {
    peer,
    exchange: (sent, read, patience) => inTime(async (held) => read(await send(sent, held)), patience),
    async stream(sent, patience) {
      const answer = await inTime((held) => send(sent, held), patience)
      const { signal } = patience
      const end = (): void => void answer.destroy()
      signal?.addEventListener('abort', end)
      answer.once('close', () => signal?.removeEventListener('abort', end))
      return answer
    },
    socketOptions,
    close: () => route.agent.destroy(),
  }
}

/** Returns a function that parses certificates once for all connections, as long as they stay the same. */
async function sharedContext(): Promise<(given: Omit<Credentials, 'headers'>) => SecureContext | undefined> {
  const { createSecureContext } = await import('node:tls')
  let last: { given: readonly unknown[]; context: SecureContext | undefined } | null = null
  return ({ ca, cert, key }) => {
    const given = [ca, cert, key]
    if (last?.given.every((it, at) => isSame(it, given[at]))) return last.context
    const made = (): SecureContext | undefined => {
      try {
        return createSecureContext({ ca, cert, key })
      } catch {
        // the connection that is made with them reports what is wrong
        return undefined
      }
    }
    last = { given, context: made() }
    return last.context
  }
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || (Buffer.isBuffer(one) && Buffer.isBuffer(other) && one.equals(other))
}

/** True if our own certificate or key is invalid; that shows before anything is sent, a rejection comes as an alert. */
function isOwnPem(error: unknown): boolean {
  return /^ERR_OSSL_(?:PEM|X509|ASN1|EVP)_/.test(codeOf(error) ?? '')
}

function interrupted({ reason }: AbortSignal): AdminError {
  return reason instanceof AdminError ? reason : new AdminError('INTERRUPTED', 'interrupted')
}
