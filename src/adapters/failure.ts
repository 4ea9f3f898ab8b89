import { connect } from 'node:net'
import { AdminError, codeOf, messageOf } from '../core/error.ts'
import type { NetworkObstacle } from '../core/error.ts'
import type { HostPort, Reach } from '../core/endpoint.ts'
import { namesOfMisnamed, tlsFailure } from './tls.ts'
import { beginningWithoutSecrets, withoutSecrets } from '../core/redaction/index.ts'
import { command, nested } from '../core/shell-command.ts'
import type { ShellCommand, Suggestion } from '../core/shell-command.ts'

/** Another part of the deployment, as error messages show it. */
export interface Peer {
  /** 'PostgreSQL' */
  what: string
  host: string
  port: number
  /** 'db.example.org:5432/testops', without credentials */
  where: string
  /** Commands to suggest if nothing better is known */
  suggestions: readonly Suggestion[]
  /** the protocol that begins unencrypted, as openssl names it */
  starttls?: 'postgres'
  reach?: Reach | undefined
}

/** Returns the address to connect to: the server's own, or that of a way to it. Throws if there is no way. */
export async function placeOf({ host, port, reach }: HostPort & { reach?: Reach | undefined }): Promise<HostPort> {
  const way = (await reach?.({ host, port })) ?? null
  return way === null ? { host, port } : { host: way.host, port: way.port }
}

const unverified = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_SIGNATURE_FAILURE',
  'CERT_NOT_YET_VALID',
  'CERT_HAS_EXPIRED',
  'CERT_REVOKED',
  'CERT_UNTRUSTED',
  'CERT_REJECTED',
  'HOSTNAME_MISMATCH',
])
/** of these, the errors that no certificate authority repairs */
const outdated = new Set(['CERT_NOT_YET_VALID', 'CERT_HAS_EXPIRED'])

/** Returns the code of a system error, even inside an aggregate (several addresses for one name) or a cause. */
export function systemCode(thrown: unknown): string | null {
  if (thrown instanceof AggregateError && thrown.errors.length > 0) return systemCode(thrown.errors[0])
  return codeOf(thrown) ?? (thrown instanceof Error && thrown.cause !== undefined ? systemCode(thrown.cause) : null)
}

/** Explains a network or TLS failure to the operator; null if it is neither. Returns an `AdminError` unchanged. */
export function networkFailure(thrown: unknown, peer: Peer): AdminError | null {
  if (thrown instanceof AdminError) return thrown
  const code = systemCode(thrown)
  if (code === null) return null
  const { what, host, port, where } = peer
  const fail = (message: string, kind?: NetworkObstacle['kind'], suggestions = peer.suggestions): AdminError =>
    new AdminError('UNREACHABLE', message, suggestions, { cause: thrown, obstacle: kind ? { kind, host, port } : null })
  const names = namesOfMisnamed(thrown)
  if (names) return misnamed(names, thrown, peer)
  if (unverified.has(code)) {
    const next = outdated.has(code)
      ? command`${nested(openssl(peer))} </dev/null | openssl x509 -noout -dates`
      : command`${nested(openssl(peer))} -showcerts </dev/null   # save the certificate of the certificate authority in
        a file, and set \`ca\` to this file`
    return fail(`the certificate of ${what} at ${where} is not trusted: ${oneLine(messageOf(thrown))}`, 'tls', [next])
  }
  switch (code) {
    case 'ECONNREFUSED':
      return fail(`${what} at ${where} refused the connection: nothing listens on ${hostPort(host, port)}`, 'refused')
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EAI_NODATA':
    case 'EAI_NONAME':
      return fail(`${what} at ${where} cannot be reached: the host name ${host} does not resolve`, 'unresolved', [
        command`getent hosts ${host}`,
      ])
    case 'ETIMEDOUT':
      return new AdminError('TIMED_OUT', `${what} at ${where} did not accept a connection in time`, peer.suggestions, {
        cause: thrown,
      })
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'EADDRNOTAVAIL':
      return fail(`${what} at ${where} cannot be reached: no route to ${host}`, 'unrouted', [
        command`ip route get ${host}`,
      ])
    case 'ECONNRESET':
    case 'EPIPE':
    case 'ERR_STREAM_DESTROYED':
    case 'ERR_STREAM_PREMATURE_CLOSE':
    case 'ERR_SOCKET_CLOSED':
      return fail(`${what} at ${where} closed the connection`)
    case 'ENOENT':
      return fail(`${what} at ${where} cannot be reached: ${oneLine(messageOf(thrown))}`, 'refused')
    case 'EACCES':
      return fail(`${what} at ${where} cannot be reached: ${oneLine(messageOf(thrown))}`)
    default:
      return code === 'EPROTO' || code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS')
        ? tlsFailure(thrown, peer)
        : null
  }
}

/** Returns the error for a certificate of another name, which no certificate authority repairs. */
function misnamed(names: readonly string[], cause: unknown, peer: Peer): AdminError {
  const { what, host, port, where } = peer
  const shown = oneLine(names.slice(0, shownNames).join(', '))
  const more = names.length > shownNames ? ` and ${names.length - shownNames} more` : ''
  return new AdminError(
    'UNREACHABLE',
    `the certificate of ${what} at ${where} is not for ${host}, ` +
      (shown === ''
        ? 'and contains no name at all'
        : `but for ${shown}${more}: use ${names.length === 1 ? 'that name' : 'one of those names'} in the address`),
    [command`${nested(openssl(peer))} </dev/null | openssl x509 -noout -subject -ext subjectAltName`],
    { cause, obstacle: { kind: 'misnamed', host, port, names } },
  )
}

const shownNames = 5

function openssl({ starttls, host, port }: Peer): ShellCommand {
  return command`openssl s_client ${nested(starttls ? command`-starttls ${starttls} ` : '')}-connect
    ${hostPort(host, port)}`
}

/** Returns what makes errors caused by `thrown`, with the peer's suggestions unless it is given others. */
export function errorsOf(
  thrown: unknown,
  peer: Peer,
): (code: AdminError['code'], message: string, suggestions?: readonly Suggestion[]) => AdminError {
  return (code, message, suggestions = peer.suggestions) =>
    new AdminError(code, message, suggestions, { cause: thrown })
}

/**
 * Turns whatever a client library threw into an error for the operator, as the last resort. Throws our own bugs
 * unchanged.
 */
export function peerFailure(thrown: unknown, peer: Peer): AdminError {
  if (thrown instanceof TypeError || thrown instanceof ReferenceError) throw thrown
  return (
    networkFailure(thrown, peer) ??
    new AdminError(
      'UNEXPECTED_ANSWER',
      `${peer.what} at ${peer.where}: ${oneLine(messageOf(thrown))}`,
      peer.suggestions,
      {
        cause: thrown,
      },
    )
  )
}

/**
 * Returns the result of `work`, or throws TIMED_OUT if it takes longer. The message says whether the server at least
 * accepts connections. `abandon` releases what `work` still holds. Aborting `signal` ends the wait early.
 */
export async function withDeadline<T>(
  work: Promise<T>,
  timeoutMs: number,
  peer: Peer,
  { abandon, signal }: { abandon?: () => void; signal?: AbortSignal } = {},
): Promise<T> {
  // plain timers: an AbortController for each of the many requests of a diagnosis would be slow
  let timer: NodeJS.Timeout | undefined
  let stop: () => void = () => undefined
  const deadline = new Promise<never>((_, reject) => {
    stop = () => reject(signal?.reason as Error)
    signal?.addEventListener('abort', stop)
    const ask = (): void => {
      const accepts = acceptsConnections(peer, timeoutMs * 0.35)
      timer = setTimeout(() => void accepts.then((did) => reject(tooLate(peer, timeoutMs, did))), timeoutMs * 0.4)
    }
    // tries to connect before the deadline, so that the outcome is known in time
    timer = setTimeout(ask, timeoutMs * 0.6)
  })
  work.catch(() => undefined)
  try {
    return await Promise.race([work, deadline])
  } catch (error) {
    abandon?.()
    throw error
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
}

function tooLate({ what, where, suggestions }: Peer, timeoutMs: number, accepts: boolean): AdminError {
  const did = accepts ? 'accepted the connection but did not answer' : 'did not accept a connection'
  return new AdminError('TIMED_OUT', `${what} at ${where} ${did} within ${seconds(timeoutMs)}`, suggestions)
}

async function acceptsConnections(peer: Peer, timeoutMs: number): Promise<boolean> {
  const place = await placeOf(peer).catch(() => null)
  if (place === null) return false
  const { host, port } = place
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect({ host, port })
  try {
    return await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true))
      socket.once('error', () => resolve(false))
      socket.setTimeout(timeoutMs, () => resolve(false))
    })
  } finally {
    socket.destroy()
  }
}

/**
 * Sends `greeting` and returns the first line of the reply; null if it is not readable. The line shows which other
 * program has taken the port.
 */
export async function firstAnswer(
  peer: Pick<Peer, 'host' | 'port' | 'reach'>,
  greeting: Buffer,
  timeoutMs: number,
): Promise<string | null> {
  const place = await placeOf(peer).catch(() => null)
  if (place === null) return null
  const socket = connect(place)
  try {
    return await new Promise<string | null>((resolve) => {
      socket.once('connect', () => socket.write(greeting))
      socket.once('data', (bytes: Buffer) => resolve(readable(bytes)))
      socket.once('error', () => resolve(null))
      socket.once('close', () => resolve(null))
      socket.setTimeout(timeoutMs, () => resolve(null))
    })
  } finally {
    socket.destroy()
  }
}

/** Returns the first line of some bytes if it is text, cut at 60 characters; else null. */
export function readable(bytes: Buffer): string | null {
  const line =
    bytes
      .subarray(0, 240)
      .toString('utf8')
      .split(/[\r\n]/, 1)[0]
      ?.trim() ?? ''
  return /^[\x20-\x7e]{4,}$/.test(line) ? beginningWithoutSecrets(line, 60) : null
}

/** Formats milliseconds as seconds: '5 s', '1.5 s' */
export function seconds(milliseconds: number): string {
  return `${Number((milliseconds / 1000).toFixed(1))} s`
}

export function hostPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

/** Puts text from another program on one line, without secrets, cut at 300 characters. */
export function oneLine(text: string): string {
  const line = withoutSecrets(text).replace(/\s+/g, ' ').trim()
  return line.length > 300 ? `${line.slice(0, 299)}…` : line
}
