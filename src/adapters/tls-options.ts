import { isIP } from 'node:net'
import { checkServerIdentity } from 'node:tls'
import type { PeerCertificate } from 'node:tls'

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
