import type { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Certificate, TlsShown } from '../../core/external-system.ts'
import { alternativeNames } from '../certificate-names.ts'

/** Returns what a connection shows while trust is not enforced; null if it is not encrypted. */
export function tlsShown(socket: Socket, host: string): TlsShown | null {
  if (!(socket instanceof TLSSocket)) return null
  const own = socket.getPeerX509Certificate()
  return {
    protocol: socket.getProtocol(),
    distrust: socket.authorized ? null : String(socket.authorizationError),
    isNamed: (isIP(host) === 0 ? own?.checkHost(host) : own?.checkIP(host)) !== undefined,
    chain: own === undefined ? [] : chainOf(own).map(shown),
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

function shown({ subject, issuer, subjectAltName = '', validFrom, validTo }: X509Certificate): Certificate {
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
