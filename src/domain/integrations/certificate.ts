import { AdminError } from '../../core/error.ts'
import type { Certificate, ExternalSystem, IntegrationStep } from '../../core/external-system.ts'
import { clientCertificate } from './answer.ts'
import { counted, listed, moment } from '../../core/format.ts'
import { command } from '../../core/shell-command.ts'

/** a certificate that ends within this many days is warned of */
const daysAhead = 14
const dayMs = 86_400_000

/** of the errors of OpenSSL, those that say nothing of names and dates, which are told by themselves */
const ofTrust: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'it is signed by itself, by no authority',
  SELF_SIGNED_CERT_IN_CHAIN: 'its authority is none that this machine knows',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'its authority is none that this machine knows, or an intermediate certificate is not sent with it',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'the certificate of its authority is not sent with it, and is none that this machine knows',
}
const ofDates = ['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID']

/** Null: nothing is encrypted, or it did not come to that. */
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
  // the service has a proxy of its own, or none
  if (tls instanceof AdminError && proxy !== null)
    return { step: 'certificate', status: 'unknown', message: `${tls.message}, from here`, next: [look] }
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
  const whose = ending === own ? '' : ` (that of ${ending.subject} above it)`
  const message = `for ${namesOf(own)}, by ${own.issuer}, valid until ${moment(ending.to)}${whose}: ${counted(left, 'day')} left`
  if (left > daysAhead) return { step: 'certificate', status: 'ok', message }
  return { step: 'certificate', status: 'warning', cause: 'connectivity', message, next: [look] }
}

function datesOf({ from, to }: Certificate, what: string, now: Date): string[] {
  if (to < now) return [`${what} has expired at ${moment(to)}`]
  return from > now ? [`${what} is not valid before ${moment(from)}: if that is past, the clock here is wrong`] : []
}

function distrust(code: string | null, { isSelfSigned }: Certificate): string[] {
  if (code === null || code === 'ERR_TLS_CERT_ALTNAME_INVALID' || ofDates.includes(code)) return []
  const why = isSelfSigned ? ofTrust['DEPTH_ZERO_SELF_SIGNED_CERT']! : (ofTrust[code] ?? code)
  return [`${why}; the service's Java has certificates of its own that it trusts (here: --ca FILE)`]
}

function namesOf({ names, subject }: Certificate): string {
  return names.length > 0 ? listed(names, 5) : subject
}
