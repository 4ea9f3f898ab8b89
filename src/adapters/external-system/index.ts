import type { X509Certificate } from 'node:crypto'
import type { Socket } from 'node:net'
import { connect, isIP } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { HostPort } from '../../core/endpoint.ts'
import { AdminError } from '../../core/error.ts'
import type { Certificate, ExternalSystem, ShownAnswer, SignIn, TlsShown } from '../../core/external-system.ts'
import { withoutSecrets } from '../../core/redaction/index.ts'
import { reasonOf } from '../answer-reason.ts'
import type { Peer } from '../failure.ts'
import { hostPort, peerFailure } from '../failure.ts'
import { bare, portOf, proxyOf } from '../http-route.ts'
import type { HttpAnswer } from '../http.ts'
import { jsonOf, openHttp } from '../http.ts'
import { addressesOf } from '../network.ts'
import { alternativeNames } from '../tls.ts'

/** Returns what a connection shows while trust is not enforced; null if it is not encrypted. */
function tlsShown(socket: Socket, host: string): TlsShown | null {
  if (!(socket instanceof TLSSocket)) return null
  const own = socket.getPeerX509Certificate()
  return {
    protocol: socket.getProtocol(),
    distrust: socket.authorized ? null : String(socket.authorizationError),
    isNamed: (isIP(host) === 0 ? own?.checkHost(host) : own?.checkIP(host)) !== undefined,
    chain: own === undefined ? [] : chainOf(own).map(shownCertificate),
  }
}

/** Lists the certificates up to the topmost, which is its own issuer. */
function chainOf(own: X509Certificate): X509Certificate[] {
  const chain: X509Certificate[] = []
  for (
    let next: X509Certificate | undefined = own;
    next && !chain.some(({ fingerprint256 }) => fingerprint256 === next?.fingerprint256);
    next = next.issuerCertificate
  )
    chain.push(next)
  return chain
}

function shownCertificate({ subject, issuer, subjectAltName = '', validFrom, validTo }: X509Certificate): Certificate {
  return {
    subject: nameIn(subject),
    issuer: nameIn(issuer),
    names: alternativeNames(subjectAltName),
    from: new Date(validFrom),
    to: new Date(validTo),
    isSelfSigned: subject === issuer,
  }
}

/** Returns `CN` and `O` of a distinguished name that has one part per line. */
function nameIn(distinguished: string): string {
  const part = (key: string): string | undefined => new RegExp(`^${key}=(.+)$`, 'm').exec(distinguished)?.[1]
  const [name, organisation] = [part('CN'), part('O')]
  return [
    name ?? organisation ?? distinguished.replaceAll('\n', ', '),
    name !== undefined && organisation !== undefined ? `(${organisation})` : '',
  ]
    .filter(Boolean)
    .join(' ')
}

export interface AskOptions {
  /** Milliseconds to wait in each step */
  timeoutMs: number
  /** PEM text of a private certificate authority */
  ca: string | null
  signal?: AbortSignal | undefined
}

const what = 'the external system'
/** bytes of an answer at most: a web page may be long */
const maxBytes = 5_000_000

/**
 * Looks up the name, connects, and sends one request without credentials. Throws CONFIGURATION for an unusable proxy,
 * and INTERRUPTED.
 */
export async function examineExternalSystem(address: string, options: AskOptions): Promise<ExternalSystem> {
  const url = new URL(address)
  const host = bare(url.hostname)
  const proxy = proxyOf(url)
  const begun: ExternalSystem = {
    proxy: proxy && hostPort(bare(proxy.hostname), portOf(proxy)),
    addresses: null,
    connection: null,
    tls: null,
    answer: null,
  }
  const addresses = isIP(host) === 0 ? await attempt(addressesOf(host, options.timeoutMs)) : null
  const named = { ...begun, addresses }
  // a proxy resolves names itself
  if (!proxy && addresses !== null && (addresses instanceof AdminError || addresses.length === 0)) return named
  const to = proxy ?? url
  const connection = await attempt(
    connected({ host: bare(to.hostname), port: portOf(to) }, proxy ? 'the proxy' : what, options.timeoutMs),
  )
  if (connection instanceof AdminError) return { ...named, connection }
  let tls: TlsShown | null = null
  let isConnected = false
  const answer = await attempt(
    ask(url, { ...options, verify: false }, {}, (socket) => {
      isConnected = true
      tls = tlsShown(socket, host)
    }),
  )
  if (answer instanceof AdminError && !isConnected && url.protocol === 'https:')
    return { ...named, connection, tls: answer }
  return { ...named, connection, tls, answer }
}

/**
 * Sends one request with credentials, only to a server with a trusted certificate, and follows no redirect. Throws as
 * any request does, and INTERRUPTED.
 */
export async function signInOnce(address: string, login: SignIn, options: AskOptions): Promise<ShownAnswer> {
  const authorization =
    login.scheme === 'basic'
      ? `Basic ${Buffer.from(`${login.user.reveal()}:${login.password.reveal()}`).toString('base64')}`
      : `Bearer ${login.token.reveal()}`
  // a server may repeat the credentials, without blanks at their ends
  const secrets = [authorization.replace(/^\S+ /, ''), login.scheme === 'basic' ? login.password.reveal() : '']
    .flatMap((secret) => [secret, secret.trim()])
    .filter((secret) => secret !== '')
  const hide = (text: string): string =>
    withoutSecrets(secrets.reduce((left, secret) => left.replaceAll(secret, '[secret]'), text))
  return ask(new URL(address), { ...options, verify: true }, { authorization }, () => undefined, hide)
}

async function ask(
  url: URL,
  { timeoutMs, ca, signal, verify }: AskOptions & { verify: boolean },
  headers: Record<string, string>,
  sent: (socket: Socket) => void,
  hide: (text: string) => string = withoutSecrets,
): Promise<ShownAnswer> {
  const client = await openHttp({ what, baseUrl: url.origin, suggestions: [], ca, verify, timeoutMs, maxBytes })
  try {
    const answer = await client.request(url.pathname, { headers, sent, repeatable: false, ...(signal && { signal }) })
    return shown(url, answer, hide)
  } finally {
    await client.close()
  }
}

function shown(url: URL, answer: HttpAnswer, hide: (text: string) => string): ShownAnswer {
  const { status, headers, durationMs } = answer
  const { location = null } = headers
  const isPage = /html/i.test(headers['content-type'] ?? '') || /^\s*<(?:!doctype html|html)\b/i.test(answer.text)
  const form = isPage ? 'page' : jsonOf(answer) === undefined ? 'other' : 'json'
  return {
    status,
    said: reasonOf(answer, hide),
    form,
    location: location?.split(/[?#]/)[0] ?? null,
    isLoop: location !== null && isSame(location, url),
    durationMs: Math.round(durationMs),
  }
}

/** True if a redirect leads back to the requested address, which had no query. */
function isSame(location: string, { origin, pathname }: URL): boolean {
  if (!URL.canParse(location, origin + pathname)) return false
  const to = new URL(location, origin + pathname)
  return to.origin === origin && to.pathname === pathname && to.search === ''
}

async function connected(
  { host, port }: HostPort,
  name: string,
  timeoutMs: number,
): Promise<{ to: string; durationMs: number }> {
  const peer: Peer = { what: name, host, port, where: hostPort(host, port), suggestions: [] }
  const since = performance.now()
  const socket = connect({ host, port })
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve)
      socket.once('error', reject)
      socket.setTimeout(timeoutMs, () =>
        reject(Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' })),
      )
    })
    return { to: hostPort(socket.remoteAddress ?? host, port), durationMs: Math.round(performance.now() - since) }
  } catch (error) {
    throw peerFailure(error, peer)
  } finally {
    socket.destroy()
  }
}

async function attempt<T>(work: Promise<T>): Promise<T | AdminError> {
  try {
    return await work
  } catch (error) {
    if (error instanceof AdminError && error.code !== 'INTERRUPTED') return error
    throw error
  }
}
