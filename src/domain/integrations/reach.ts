import { AdminError } from '../../core/error.ts'
import type { Certificate, ExternalSystem, IntegrationStep } from '../../core/external-system.ts'
import { counted, listed, moment } from '../../core/format.ts'
import { command } from '../../core/shell-command.ts'
import { clientCertificate } from './answer.ts'

/** What is known about where the service runs. */
export interface ServicePlace {
  /** True if the name resolves there; null if that cannot be checked; an error: why the check failed */
  resolves: boolean | null | AdminError
  /** True if it is another machine, so that what fails from here may work from there */
  isElsewhere: boolean
}

/** Returns steps about the name and the connection. `place`: null if no deployment is known. */
export function reachSteps(url: URL, system: ExternalSystem, place: ServicePlace | null): IntegrationStep[] {
  return [...nameSteps(url, system, place), ...connectionSteps(url, system, place)]
}

function nameSteps(
  { hostname }: URL,
  { addresses, proxy }: ExternalSystem,
  place: ServicePlace | null,
): IntegrationStep[] {
  if (addresses === null) return []
  const there = place?.resolves ?? null
  const next = [command`getent hosts ${hostname}   # run this on this machine, and where the service runs`]
  const isHere = !(addresses instanceof AdminError) && addresses.length > 0
  const here =
    addresses instanceof AdminError
      ? addresses.message
      : isHere
        ? `${hostname} resolves to ${listed(addresses, 3)} on this machine`
        : `${hostname} does not resolve on this machine`
  const unknown = 'cannot tell whether the name resolves where the service runs'
  const elsewhere =
    there instanceof AdminError
      ? `${unknown}: ${there.message}`
      : there === null
        ? `${unknown}${place ? '' : ': no deployment is named'}`
        : `the name ${there ? 'resolves' : 'does not resolve'} where the service runs`
  const message = `${here}${!isHere && proxy !== null ? `, but the proxy ${proxy} resolves names` : ''}; ${elsewhere}`
  if (there === false || (!isHere && there !== true && proxy === null))
    return [{ step: 'name', status: 'problem', cause: 'connectivity', message, next }]
  const isOpen = there instanceof AdminError || (!isHere && proxy === null)
  return [{ step: 'name', status: isOpen ? 'unknown' : 'ok', message, ...(isOpen && { next }) }]
}

function connectionSteps(
  url: URL,
  { connection, proxy }: ExternalSystem,
  place: ServicePlace | null,
): IntegrationStep[] {
  if (connection === null) return []
  if (!(connection instanceof AdminError)) {
    const through =
      proxy === null
        ? ''
        : ". This is the proxy set in this machine's environment. All further steps use it, but the service may use " +
          'another or none'
    return [
      {
        step: 'connection',
        status: 'ok',
        message: `${connection.to} accepts connections (${connection.durationMs} ms)${through}`,
      },
    ]
  }
  const next = [
    ...connection.suggestions,
    command`curl -sS -o /dev/null -w '%{http_code}\\n' ${url.href}   # run this where the service runs`,
  ]
  // it may still be reachable from another network
  if (proxy !== null || place?.isElsewhere === true)
    return [{ step: 'connection', status: 'unknown', message: `from this machine: ${connection.message}`, next }]
  return [{ step: 'connection', status: 'problem', cause: 'connectivity', message: connection.message, next }]
}

/** Days before its end from which a certificate causes a warning */
const daysAhead = 14
const dayMs = 86_400_000

/** Errors of OpenSSL except those about names or dates, which have messages of their own */
const ofTrust: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'this machine does not trust the issuer of the certificate',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'this machine does not trust the issuer of the certificate, or the server does not send an intermediate ' +
    'certificate',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    "the server does not send the issuer's certificate, and this machine does not have it",
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
    return { step: 'certificate', status: 'unknown', message: `from this machine: ${tls.message}`, next: [look] }
  if (tls instanceof AdminError && tls.obstacle?.kind === 'client-certificate')
    return { step: 'certificate', status: 'unknown', message: clientCertificate(tls.message), next: [look] }
  if (tls instanceof AdminError) return problem(tls.message)
  const [own] = tls.chain
  if (!own) return { step: 'certificate', status: 'unknown', message: 'the server sends no certificate', next: [look] }
  const faults = [
    ...(tls.isNamed ? [] : [`the certificate is for ${namesOf(own)}, not for ${host}`]),
    ...tls.chain.flatMap((it) =>
      datesOf(it, it === own ? 'the certificate' : `the issuer certificate of ${it.subject}`, now),
    ),
    ...distrust(tls.distrust, own),
  ]
  if (faults.length > 0) return problem(`${faults.join('; ')}${own.isSelfSigned ? '' : `. Issuer: ${own.issuer}`}`)
  const ending = [...tls.chain].sort((one, other) => one.to.getTime() - other.to.getTime())[0]!
  const left = Math.floor((ending.to.getTime() - now.getTime()) / dayMs)
  const whose = ending === own ? '' : ` (when the issuer certificate of ${ending.subject} expires)`
  const message =
    `certificate for ${namesOf(own)}, issued by ${own.issuer}, valid until ${moment(ending.to)}${whose}: ` +
    `${counted(left, 'day')} left`
  if (left > daysAhead) return { step: 'certificate', status: 'ok', message }
  return { step: 'certificate', status: 'warning', cause: 'connectivity', message, next: [look] }
}

function datesOf({ from, to }: Certificate, what: string, now: Date): string[] {
  if (to < now) return [`${what} expired at ${moment(to)}`]
  return from > now
    ? [`${what} is valid only from ${moment(from)}. If that time has passed, the clock of this machine is wrong`]
    : []
}

function distrust(code: string | null, { isSelfSigned }: Certificate): string[] {
  if (code === null || code === 'ERR_TLS_CERT_ALTNAME_INVALID' || ofDates.includes(code)) return []
  const why = isSelfSigned ? ofTrust['DEPTH_ZERO_SELF_SIGNED_CERT']! : (ofTrust[code] ?? code)
  return [
    `${why}. The service may still trust it: Java has its own trusted certificates. To make testops-admin trust ` +
      'it, use `--ca FILE`',
  ]
}

function namesOf({ names, subject }: Certificate): string {
  return names.length > 0 ? listed(names, 5) : subject
}
