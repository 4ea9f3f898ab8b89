import { isIP } from 'node:net'
import { checkServerIdentity } from 'node:tls'
import type { PeerCertificate } from 'node:tls'

export interface Trust {
  /** false: encrypted, with whomever */
  verify: boolean
  /** PEM text of an own certificate authority */
  ca: string | null
}

export interface TlsOptions {
  rejectUnauthorized: boolean
  servername?: string
  ca?: string[]
  checkServerIdentity: (name: string, certificate: PeerCertificate) => Error | undefined
}

/**
 * For a connection that is encrypted to the server of that name, wherever its socket leads: the certificate is to be
 * the server's.
 */
export function tlsOptions(host: string, { verify, ca }: Trust): TlsOptions {
  return {
    rejectUnauthorized: verify,
    // an address is no name to ask for
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(ca === null ? {} : { ca: [ca] }),
    checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate),
  }
}
