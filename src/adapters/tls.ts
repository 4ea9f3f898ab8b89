import { isIP } from 'node:net'
import type { PeerCertificate } from 'node:tls'
import { checkServerIdentity } from 'node:tls'
import type { NetworkObstacle } from '../core/error.ts'
import { AdminError, messageOf } from '../core/error.ts'
import type { Suggestion } from '../core/shell-command.ts'

export interface Trust {
  /** False to accept any certificate */
  verify: boolean
  /** PEM text of a private certificate authority */
  ca: string | null
}

export interface TlsOptions {
  rejectUnauthorized: boolean
  servername?: string
  ca?: string[]
  checkServerIdentity: (name: string, certificate: PeerCertificate) => Error | undefined
}

/**
 * Returns options for an encrypted connection to the server of that name, wherever its socket leads: the certificate
 * must be the server's.
 */
export function tlsOptions(host: string, { verify, ca }: Trust): TlsOptions {
  return {
    rejectUnauthorized: verify,
    // an IP address cannot be requested as a server name
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(ca === null ? {} : { ca: [ca] }),
    checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate),
  }
}

/**
 * The code for a missing client certificate. TLS 1.2 has no alert of its own for it, so this is Node's code for that of
 * TLS 1.3.
 */
export const certificateWanted = 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'

interface Reason {
  /** Matches OpenSSL's text, whose beginning differs between its versions */
  sign: RegExp
  /** What the peer does, to follow its name */
  does: string
  kind?: NetworkObstacle['kind']
}

const reasons: readonly Reason[] = [
  // this program sends no certificate, so none can be bad
  {
    sign: /alert (?:certificate required|bad certificate|no certificate|certificate unknown|unsupported certificate)/i,
    does: 'requires a client certificate',
    kind: 'client-certificate',
  },
  {
    sign: /alert protocol version|unsupported protocol|version too low/i,
    does: 'supports only TLS versions before 1.2',
  },
  {
    sign: /wrong version number|packet length too long|record layer/i,
    does: 'answered in plain text instead of TLS',
  },
  {
    sign: /alert handshake failure|no shared cipher|no ciphers available|unknown cipher|wrong cipher/i,
    does: 'has no cipher in common with testops-admin',
  },
  { sign: /unrecognized name/i, does: 'does not know the requested host name' },
  {
    sign: /(?:key|md|digest) too (?:small|weak)|bad (?:dh|ecpoint)/i,
    does: 'has a key or a certificate that is too weak',
  },
  { sign: /legacy renegotiation|legacy sigalg/i, does: 'relies on an outdated, insecure feature of TLS' },
  { sign: /alert internal error/i, does: 'failed with an internal error during the TLS handshake' },
  { sign: /alert access denied/i, does: 'denies access from this machine' },
]

/** The other side, as error messages show it. */
interface TlsPeer {
  what: string
  host: string
  port: number
  where: string
  suggestions: readonly Suggestion[]
}

/** Explains a TLS failure to the operator, without OpenSSL's own text. */
export function tlsFailure(thrown: unknown, { what, host, port, where, suggestions }: TlsPeer): AdminError {
  const text = `${codeIn(thrown)} ${messageOf(thrown)}`.replaceAll('_', ' ')
  const { does, kind = 'tls' } = reasons.find(({ sign }) => sign.test(text)) ?? {
    does: 'does not use TLS as expected',
  }
  return new AdminError('UNEXPECTED_ANSWER', `${what} at ${where} ${does}`, suggestions, {
    cause: thrown,
    obstacle: { kind, host, port },
  })
}

/**
 * True for the only alert that a TLS 1.2 server sends to a client without a certificate. It sends the same one to a
 * client that has no cipher in common with it.
 */
export function isHandshakeFailure(thrown: unknown): boolean {
  return /alert handshake failure/i.test(messageOf(thrown))
}

function codeIn(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : ''
}

/**
 * Returns the names and addresses in a certificate that does not match the requested name: from its subjectAltName,
 * else its common name. Null if the error is about something else.
 */
export function namesOfMisnamed(thrown: unknown): readonly string[] | null {
  if (!(thrown instanceof Error)) return null
  const { code, cert, cause } = thrown as Error & { code?: unknown; cert?: Certificate }
  if (thrown instanceof AggregateError && thrown.errors.length > 0) return namesOfMisnamed(thrown.errors[0])
  if (code !== 'ERR_TLS_CERT_ALTNAME_INVALID') return cause === undefined ? null : namesOfMisnamed(cause)
  const names = alternativeNames(cert?.subjectaltname ?? '')
  return names.length > 0 ? names : [cert?.subject?.CN ?? []].flat()
}

/** The parts of Node's certificate object that are read here. */
interface Certificate {
  subjectaltname?: string
  subject?: { CN?: string | string[] }
}

/** Lists what `DNS:a, IP Address:10.0.0.1, URI:…` names. A name with a comma or a quote is in quotes (as JSON). */
export function alternativeNames(text: string): string[] {
  const parts = text.match(/(?:"(?:[^"\\]|\\.)*(?:"|\\?$)|[^",])+/gs) ?? []
  return parts.flatMap((part) => /^(?:DNS|IP Address):"?(.+?)"?$/.exec(part.trim())?.[1] ?? [])
}
