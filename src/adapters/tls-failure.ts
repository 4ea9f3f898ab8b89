import { AdminError, messageOf } from '../core/error.ts'
import type { NetworkObstacle } from '../core/error.ts'
import type { Suggestion } from '../core/shell-command.ts'

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
    does: 'wants a client certificate',
    kind: 'client-certificate',
  },
  { sign: /alert protocol version|unsupported protocol|version too low/i, does: 'speaks only TLS older than 1.2' },
  {
    sign: /wrong version number|packet length too long|record layer/i,
    does: 'does not speak TLS as expected: it answered in plain text',
  },
  {
    sign: /alert handshake failure|no shared cipher|no ciphers available|unknown cipher|wrong cipher/i,
    does: 'has no cipher in common with this program',
  },
  { sign: /unrecognized name/i, does: 'does not know the requested host name' },
  {
    sign: /(?:key|md|digest) too (?:small|weak)|bad (?:dh|ecpoint)/i,
    does: 'has a key or a certificate that is too weak',
  },
  { sign: /legacy renegotiation|legacy sigalg/i, does: 'speaks an old, unsafe form of TLS' },
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
    does: 'does not speak TLS as expected',
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
