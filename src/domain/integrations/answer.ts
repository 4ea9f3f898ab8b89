import { AdminError } from '../../core/error.ts'
import type { IntegrationCause, IntegrationStep, ShownAnswer } from '../../core/external-system.ts'
import { command } from '../../core/shell-command.ts'

const signInPage =
  /(?<![a-z])(?:log|sign)[-_]?[io]n(?![a-z])|\bsso\b|saml|oauth|openid|\/cas\b|\/auth(?:n|enticate|entication|orize)?\b|\/sessions?\/new\b/i
const apiPath = /\/(?:api|rest|graphql|v\d+)(?:[./]|$)/i
const notHere = 'this may not be the address of its API, or the API has changed'

/**
 * True if the answer may hide something: without credentials, many systems answer that a thing is missing or the
 * request is incomplete.
 */
export function mayHide(answer: ShownAnswer | AdminError | null): boolean {
  return answer !== null && !(answer instanceof AdminError) && [400, 404].includes(answer.status)
}

/** Judges what an answer without credentials shows about the system. `isLetIn`: with credentials, it answered well. */
export function answerStep(url: URL, answer: ShownAnswer | AdminError, isLetIn = false): IntegrationStep {
  const next = [command`curl -i ${url.href}`]
  if (answer instanceof AdminError) {
    if (answer.obstacle?.kind === 'client-certificate')
      return { step: 'answer', status: 'unknown', message: clientCertificate(answer.message), next }
    if (answer.obstacle?.kind === 'proxy') return { step: 'answer', status: 'unknown', message: answer.message, next }
    return {
      step: 'answer',
      status: 'problem',
      cause: answer.code === 'UNEXPECTED_ANSWER' ? 'api' : 'connectivity',
      message: answer.message,
      next,
    }
  }
  const { status, cause, message } =
    isLetIn && mayHide(answer)
      ? { status: 'ok' as const, message: 'it says this to anyone without credentials', cause: undefined }
      : judged(url, answer)
  return {
    step: 'answer',
    status,
    message: `${answer.said}: ${message}`,
    ...(cause && { cause }),
    ...(status === 'ok' ? {} : { next }),
  }
}

/**
 * Returns the message for a system that requires a client certificate: an integration has none, but the service's Java
 * may have one.
 */
export function clientCertificate(said: string): string {
  return `${said}: cannot tell from here whether the service has one`
}

interface Judgement {
  status: IntegrationStep['status']
  message: string
  cause?: IntegrationCause
}

function judged(url: URL, answer: ShownAnswer): Judgement {
  const { status, said, form, location } = answer
  const isRoot = url.pathname === '/'
  if (status === 400 && /no required ssl certificate|client certificate/i.test(said))
    return { status: 'unknown', message: clientCertificate('it requires a client certificate') }
  if (status === 401) return { status: 'ok', message: 'it asks for credentials, as it should' }
  if (status === 403) return { status: 'unknown', message: 'it requires credentials, or it refuses this machine' }
  if (status === 407 || status === 429)
    return {
      status: 'unknown',
      message: status === 407 ? 'a proxy in front of it asks for credentials' : 'it accepts no more calls for now',
    }
  if (status === 405) return { status: 'unknown', message: 'it is there, but does not answer GET' }
  if (status >= 502 && status <= 504)
    return {
      status: 'problem',
      cause: 'connectivity',
      message: 'the proxy in front of it cannot reach it, or it is down',
    }
  if (status >= 500) return { status: 'problem', cause: 'api', message: 'it has an internal error: see its own log' }
  if (status >= 300 && status < 400 && location !== null) return redirected(url, location, answer)
  if (status < 300) {
    if (form !== 'page') return { status: 'ok', message: 'it answers without credentials' }
    if (isRoot) return { status: 'ok', message: 'a web page, which says nothing about the API' }
    return {
      status: apiPath.test(url.pathname) ? 'problem' : 'warning',
      cause: 'api',
      message: `a web page instead of data from an API: ${notHere}`,
    }
  }
  if (/plain HTTP request|HTTP request to an HTTPS/i.test(said))
    return { status: 'problem', cause: 'api', message: 'this port needs https://' }
  if (isRoot && (status === 404 || status === 410))
    return { status: 'ok', message: 'it is there. To check the API, add its path to --url' }
  return { status: 'problem', cause: 'api', message: `it is there, but does not know this call: ${notHere}` }
}

function redirected(url: URL, location: string, { status, isLoop }: ShownAnswer): Judgement {
  if (isLoop)
    return {
      status: 'problem',
      cause: 'api',
      message: 'it redirects to itself in a loop: check its own address and the proxy in front of it',
    }
  const to = URL.canParse(location, url.href) ? new URL(location, url.href) : null
  if (to === null) return { status: 'problem', cause: 'api', message: `it redirects to an invalid address: ${notHere}` }
  const grave = apiPath.test(url.pathname) ? 'problem' : 'warning'
  if (signInPage.test(`${to.host}${to.pathname}`)) {
    if (url.pathname === '/') return { status: 'ok', message: 'it redirects to its sign-in page' }
    return {
      status: grave,
      cause: 'api',
      message: `a redirect to a sign-in page, where an API answers 401: ${notHere}`,
    }
  }
  if (to.hostname !== url.hostname)
    return {
      status: grave,
      cause: 'api',
      message:
        'it redirects to another host, which gets no credentials: it has moved, or this is not the address of its API',
    }
  if (to.protocol !== url.protocol)
    return { status: 'warning', cause: 'api', message: `its address must begin with ${to.protocol}//` }
  if (status === 301 || status === 308)
    return { status: 'warning', cause: 'api', message: 'it has moved permanently: change the address' }
  return { status: 'ok', message: 'it redirects to another page of its own' }
}
