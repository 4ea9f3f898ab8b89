import { unlessAborted } from '../../core/work.ts'
import type { ApiEndpoint } from '../../core/endpoint.ts'
import { AdminError } from '../../core/error.ts'
import { reasonOf } from '../answer-reason.ts'
import { openHttp } from '../http.ts'
import type { HttpAnswer, HttpClient } from '../http.ts'
import { exchangeToken, hideSecrets } from './token.ts'
import { isProxyError, movedTo, redirected, refusal, unreached } from './refusals.ts'
import { persist } from './persistence.ts'
import type { Call } from './refusals.ts'
import type { HeldToken, TokenKeeper } from './token.ts'
import { command } from '../../core/shell-command.ts'

export const healthPath = '/api/management/health'
export const userPath = '/api/uaa/me'

export interface ApiOptions {
  /** Milliseconds to wait for each answer, and within which reads are retried */
  timeoutMs: number
  /** Shared by all connections to the same deployment */
  tokens: TokenKeeper
}

interface SendOptions {
  signal: AbortSignal
  /** Called with true when the call is sent, since the service may accept it; with false when it is answered */
  underway: (is: boolean) => void
}

/** A connection to the service's API that authenticates itself. */
export interface ApiSession {
  http: HttpClient
  timeoutMs: number
  /** Returns the Bearer token. Throws NOT_CONFIGURED if there is no API token, and UNAUTHENTICATED */
  token: (signal?: AbortSignal) => Promise<HeldToken>
  /** Reads with the Bearer token. Retries, since reading twice is harmless. */
  read: (path: string) => Promise<HttpAnswer>
  /**
   * Changes something with the Bearer token. Retries only a call that was certainly not accepted: one whose token was
   * rejected.
   */
  send: (path: string, options: SendOptions) => Promise<HttpAnswer>
  /** Returns the error to throw for an unexpected answer */
  refusal: (method: 'GET' | 'POST', path: string, answer: HttpAnswer) => AdminError
  /** Summarizes an answer, without tokens */
  reason: (answer: HttpAnswer) => string
}

/**
 * Connects and verifies that the service answers. A health of DOWN is an answer; an error page of a proxy or a redirect
 * is not. Throws UNREACHABLE, TIMED_OUT, UNEXPECTED_ANSWER, CONFIGURATION.
 */
export async function openSession(endpoint: ApiEndpoint, options: ApiOptions): Promise<ApiSession> {
  const { timeoutMs } = options
  const base = endpoint.baseUrl.replace(/(?<!\/)\/+$/, '')
  const http = await openHttp({
    what: 'the service',
    baseUrl: base,
    suggestions: [command`curl -i ${`${base}${healthPath}`}`],
    ca: endpoint.ca,
    verify: true,
    timeoutMs,
    maxBytes: 10_000_000,
    reach: endpoint.reach,
  })
  try {
    const answer = await http.request(healthPath)
    throwUnlessService(answer, http, base)
    return apiSession(endpoint, http, options)
  } catch (error) {
    await http.close()
    throw error
  }
}

function throwUnlessService(answer: HttpAnswer, http: HttpClient, base: string): void {
  if (isProxyError(answer)) throw unreached(`GET ${base}${healthPath}`, reasonOf(answer), http.peer.suggestions)
  const call: Call = { method: 'GET', base, path: healthPath }
  const elsewhere = redirected(call, answer, (text) => text)
  // a sign-in page may guard this path alone
  if (elsewhere && movedTo(call, answer) !== null) throw elsewhere
}

function apiSession({ apiToken }: ApiEndpoint, http: HttpClient, { timeoutMs, tokens }: ApiOptions): ApiSession {
  const base = http.peer.where
  /** every token of this session: an answer may quote one */
  const seen = new Set(apiToken === null ? [] : [apiToken.reveal()])
  let hidden: ((text: string) => string) | null = null

  const exchange = async (): Promise<HeldToken> => {
    if (apiToken === null)
      throw new AdminError('NOT_CONFIGURED', 'no `apiToken` is configured', ['set `apiToken` in the configuration'])
    return exchangeToken(http, apiToken, { timeoutMs })
  }
  const hide = (text: string): string => (hidden ??= hideSecrets([...seen]))(text)
  const refusalOf: ApiSession['refusal'] = (method, path, answer) =>
    refusal({ method, base, path: path.split('?')[0] ?? '' }, answer, hide)

  const token = async (signal?: AbortSignal): Promise<HeldToken> =>
    unlessAborted(tokens.current(exchange), signal, () => signal?.reason as Error)

  /** Retries once with another token if the first was rejected. */
  const identified = async (
    ask: (bearer: string) => Promise<HttpAnswer>,
    method: 'GET' | 'POST',
    path: string,
    signal?: AbortSignal,
  ): Promise<HttpAnswer> => {
    const askWith = async (held: HeldToken): Promise<HttpAnswer> => {
      const bearer = held.bearer.reveal()
      if (!seen.has(bearer)) hidden = null
      seen.add(bearer)
      const answer = await ask(bearer)
      if (answer.status !== 401) tokens.accepted(held)
      return answer
    }
    const first = await token(signal)
    const answer = await askWith(first)
    if (answer.status !== 401) return answer
    const second = await unlessAborted(tokens.instead(first, exchange), signal, () => signal?.reason as Error)
    const last = second === null ? answer : await askWith(second)
    if (last.status === 401) throw refusalOf(method, path, last)
    return last
  }

  return {
    http,
    timeoutMs,
    token,
    refusal: refusalOf,
    reason: (answer) => reasonOf(answer, hide),
    read: async (path) => {
      const ask = async (): Promise<HttpAnswer> =>
        identified(
          async (bearer) => http.request(path, { headers: { authorization: `Bearer ${bearer}` } }),
          'GET',
          path,
        )
      return persist(ask, { statuses: [429, 502, 503, 504], afterLoss: true, withinMs: timeoutMs })
    },
    send: async (path, { signal, underway }) => {
      const ask = async (bearer: string): Promise<HttpAnswer> => {
        const headers = { authorization: `Bearer ${bearer}` }
        const answer = await http.request(path, { method: 'POST', headers, signal, sent: () => underway(true) })
        underway(false)
        return answer
      }
      return identified(ask, 'POST', path, signal)
    },
  }
}
