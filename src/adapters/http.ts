import { randomBytes } from 'node:crypto'
import type { Dispatcher } from 'undici'
import { AdminError } from '../core/error.ts'
import { oneLine, peerFailure, systemCode, withDeadline } from './failure.ts'
import type { Peer } from './failure.ts'

interface HttpRequest {
  method?: 'GET' | 'POST'
  headers?: Readonly<Record<string, string>>
  form?: Readonly<Record<string, string>>
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

export interface HttpOptions {
  /** the peer's name in errors */
  what: string
  /** without credentials; may have a path, also a trailing slash */
  baseUrl: string
  /** what to type next */
  suggestions: readonly string[]
  ca: string | null
  /** false: encrypted, with whomever */
  verify: boolean
  timeoutMs: number
  maxBytes: number
  proxies: Proxies
}

/** Environment variables, of which the names of proxies are read. */
export type Proxies = Readonly<Record<string, string | undefined>>

/**
 * A client for one server that keeps its connections, through the proxy that `proxies` names (HTTP_PROXY, HTTPS_PROXY, NO_PROXY).
 * Its requests throw UNREACHABLE, TIMED_OUT and UNEXPECTED_ANSWER (cut off, or longer than `maxBytes`), whatever the status is.
 */
export async function openHttp(options: HttpOptions): Promise<HttpClient> {
  const { what, timeoutMs, maxBytes } = options
  const base = options.baseUrl.replace(/\/+$/, '')
  const url = parseBase(base, what)
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
  const peer: Peer = { what, host: url.hostname.replace(/^\[|\]$/g, ''), port, where: base, suggestions: options.suggestions }
  const tls = { rejectUnauthorized: options.verify, ...(options.ca === null ? {} : { ca: options.ca }) }
  const settings = { connect: { ...tls, timeout: timeoutMs }, headersTimeout: timeoutMs, bodyTimeout: timeoutMs }
  const dispatcher = (await proxied(options.proxies, { ...settings, requestTls: tls })) ?? (await direct(settings))

  const send = async (
    path: string,
    { method = 'GET', headers = {}, form }: HttpRequest,
    signal: AbortSignal,
  ): Promise<HttpAnswer> => {
    const content = form === undefined ? null : multipart(form)
    const started = performance.now()
    const answer = await dispatcher.request({
      origin: url.origin,
      path: `${url.pathname.replace(/\/+$/, '')}${path}`,
      method,
      signal,
      headers: { accept: 'application/json', 'user-agent': 'testops-admin', ...content?.headers, ...headers },
      body: content?.body ?? null,
    })
    const durationMs = performance.now() - started
    const text = await readBody(answer.body, maxBytes, peer)
    return { status: answer.statusCode, headers: plain(answer.headers), text, durationMs }
  }

  return {
    peer,
    async request(path, request = {}) {
      const controller = new AbortController()
      const where = { ...peer, where: `${base}${path.split('?')[0]}` }
      try {
        return await withDeadline(send(path, request, controller.signal), timeoutMs, where, { abandon: () => controller.abort() })
      } catch (error) {
        throw httpFailure(error, { ...where, suggestions: peer.suggestions })
      }
    },
    async close() {
      await dispatcher.destroy().catch(() => undefined)
    },
  }
}

/** The first line of an answer that says something, without HTML: what a proxy's page or an error text comes down to. */
export function gist({ text, status }: Pick<HttpAnswer, 'text' | 'status'>): string {
  const title = /<title[^>]*>([^<]+)<\/title>/i.exec(text)?.[1]
  const bare = title ?? text.replace(/<(style|script)[\s\S]*?<\/\1>/gi, '').replace(/<[^>]*>/g, '\n')
  const line = bare
    .split('\n')
    .map((part) => part.trim())
    .find((part) => part !== '')
  return `HTTP ${status}${line === undefined ? '' : `, '${oneLine(line).slice(0, 120)}'`}`
}

/** The JSON of an answer; undefined where it is none. */
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

interface Settings {
  connect: { rejectUnauthorized: boolean; ca?: string; timeout: number }
  headersTimeout: number
  bodyTimeout: number
}

interface Requester {
  request(options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData>
  destroy(): Promise<void>
}

/** The parts of undici that are needed: the whole of it takes twice as long to load. */
async function direct(settings: Settings): Promise<Requester> {
  const [{ default: Agent }, { default: request }] = await Promise.all([
    import('undici/lib/dispatcher/agent.js'),
    import('undici/lib/api/api-request.js'),
  ])
  const agent = new Agent(settings)
  return { request: async (options) => request.call(agent, options), destroy: async () => agent.destroy() }
}

/** Null where no proxy is named. As curl does, the lower case name wins. */
async function proxied(
  proxies: Proxies,
  settings: Settings & { requestTls: Omit<Settings['connect'], 'timeout'> },
): Promise<Requester | null> {
  const named = (name: string): string => (proxies[name.toLowerCase()] ?? '') || (proxies[name] ?? '')
  const [httpProxy, httpsProxy, noProxy] = [named('HTTP_PROXY'), named('HTTPS_PROXY'), named('NO_PROXY')]
  if (httpProxy === '' && httpsProxy === '') return null
  const { default: undici } = await import('undici')
  return new undici.EnvHttpProxyAgent({ ...settings, httpProxy, httpsProxy, noProxy })
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

async function readBody(body: Dispatcher.ResponseData['body'], maxBytes: number, peer: Peer): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      length += chunk.length
      if (length > maxBytes) {
        throw new AdminError(
          'UNEXPECTED_ANSWER',
          `${peer.what} at ${peer.where} answers with more than ${maxBytes} bytes`,
          peer.suggestions,
        )
      }
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof AdminError || isAbort(error)) throw error
    throw new AdminError(
      'UNEXPECTED_ANSWER',
      `the answer of ${peer.what} at ${peer.where} was cut off after ${length} bytes`,
      peer.suggestions,
      {
        cause: error,
      },
    )
  }
  return Buffer.concat(chunks).toString('utf8')
}

function httpFailure(error: unknown, peer: Peer): AdminError {
  if (error instanceof AdminError) return error
  const code = systemCode(error) ?? ''
  if (code.startsWith('HPE_') || (error instanceof Error && error.name === 'HTTPParserError')) {
    return new AdminError(
      'UNEXPECTED_ANSWER',
      `what listens at ${peer.host}:${peer.port} does not speak HTTP`,
      peer.suggestions,
      { cause: error },
    )
  }
  return peerFailure(error, peer)
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}

function plain(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  )
}
