import { AdminError } from '../../core/error.ts'
import type { Certificate, ExternalSystem, IntegrationStep } from '../../core/external-system.ts'
import { clientCertificate } from './answer.ts'
import { counted, listed, moment } from '../../core/format.ts'
import { command } from '../../core/shell-command.ts'

/** Days before its end from which a certificate causes a warning */
const daysAhead = 14
const dayMs = 86_400_000

/** Errors of OpenSSL except those about names or dates, which have messages of their own */
const ofTrust: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'it is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'this machine does not know its authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'this machine does not know its authority, or the server does not send an intermediate certificate',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'the server does not send the certificate of its authority, and this machine does not know it',
}
const ofDates = ['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID']

/** Returns the step about the certificate; null if nothing is encrypted, or no certificate was seen. */
export function certificateStep(url: URL, { tls, proxy }: ExternalSystem, now: Date): IntegrationStep | null {
  if (tls === null) return null
  const host = url.hostname
  const look = command`openssl s_client -connect ${`${host}:${url.port || 443}`} -showcerts </dev/null`
  const problem = (message: string): IntegrationStep => ({
    step: 'certificate',
    status: 'problem',
    cause: 'connectivity',
    message,
    next: [look],
  })
  // the service has its own proxy settings
  if (tls instanceof AdminError && proxy !== null)
    return { step: 'certificate', status: 'unknown', message: `${tls.message}, from this machine`, next: [look] }
  if (tls instanceof AdminError && tls.obstacle?.kind === 'client-certificate')
    return { step: 'certificate', status: 'unknown', message: clientCertificate(tls.message), next: [look] }
  if (tls instanceof AdminError) return problem(tls.message)
  const [own] = tls.chain
  if (!own) return { step: 'certificate', status: 'unknown', message: 'the server shows no certificate', next: [look] }
  const faults = [
    ...(tls.isNamed ? [] : [`it is for ${namesOf(own)}, not for ${host}`]),
    ...tls.chain.flatMap((it) => datesOf(it, it === own ? 'it' : `the certificate of ${it.subject} above it`, now)),
    ...distrust(tls.distrust, own),
  ]
  if (faults.length > 0) return problem(`${faults.join('; ')}${own.isSelfSigned ? '' : `. Issued by ${own.issuer}`}`)
  const ending = [...tls.chain].sort((one, other) => one.to.getTime() - other.to.getTime())[0]!
  const left = Math.floor((ending.to.getTime() - now.getTime()) / dayMs)
  const whose = ending === own ? '' : ` (the certificate of ${ending.subject} above it)`
  const message = `for ${namesOf(own)}, by ${own.issuer}, valid until ${moment(ending.to)}${whose}: ${counted(left, 'day')} left`
  if (left > daysAhead) return { step: 'certificate', status: 'ok', message }
  return { step: 'certificate', status: 'warning', cause: 'connectivity', message, next: [look] }
}

function datesOf({ from, to }: Certificate, what: string, now: Date): string[] {
  if (to < now) return [`${what} expired at ${moment(to)}`]
  return from > now
    ? [`${what} is not valid before ${moment(from)}. If that is in the past, the clock of this machine is wrong`]
    : []
}

function distrust(code: string | null, { isSelfSigned }: Certificate): string[] {
  if (code === null || code === 'ERR_TLS_CERT_ALTNAME_INVALID' || ofDates.includes(code)) return []
  const why = isSelfSigned ? ofTrust['DEPTH_ZERO_SELF_SIGNED_CERT']! : (ofTrust[code] ?? code)
  return [`${why}; the service's Java has its own list of trusted certificates (for this check: --ca FILE)`]
}

function namesOf({ names, subject }: Certificate): string {
  return names.length > 0 ? listed(names, 5) : subject
}
