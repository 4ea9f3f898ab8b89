import { AdminError } from '../../core/error.ts'
import type { IntegrationCause, IntegrationStep, ShownAnswer } from '../../core/external-system.ts'
import { command } from '../../core/shell-command.ts'

const signInPage = new RegExp(
  String.raw`(?<![a-z])(?:log|sign)[-_]?[io]n(?![a-z])|\bsso\b|saml|oauth|openid|\/cas\b|` +
    String.raw`\/auth(?:n|enticate|entication|orize)?\b|\/sessions?\/new\b`,
  'i',
)
const apiPath = /\/(?:api|rest|graphql|v\d+)(?:[./]|$)/i
const notHere = 'this may be the wrong address for the API, or the API has changed'

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
      ? {
          status: 'ok' as const,
          message:
            'this is the answer without credentials; with credentials, the external system accepts the same call',
          cause: undefined,
        }
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
  return `${said}: cannot tell from this machine whether the service has a client certificate`
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
    return { status: 'unknown', message: clientCertificate('the external system requires a client certificate') }
  if (status === 401) return { status: 'ok', message: 'the external system asks for credentials, as it should' }
  if (status === 403)
    return { status: 'unknown', message: 'the external system requires credentials, or it refuses this machine' }
  if (status === 407 || status === 429)
    return {
      status: 'unknown',
      message:
        status === 407
          ? 'a proxy in front of the external system asks for credentials'
          : 'the external system accepts no more calls for now',
    }
  if (status === 405)
    return { status: 'unknown', message: 'the external system answers, but refuses GET at this address' }
  if (status >= 502 && status <= 504)
    return {
      status: 'problem',
      cause: 'connectivity',
      message: 'the external system is down, or the proxy in front of it cannot reach it',
    }
  if (status >= 500)
    return {
      status: 'problem',
      cause: 'api',
      message: 'the external system reports an internal error: read the log of the external system',
    }
  if (status >= 300 && status < 400 && location !== null) return redirected(url, location, answer)
  if (status < 300) {
    if (form !== 'page') return { status: 'ok', message: 'the external system answers without credentials' }
    if (isRoot) return { status: 'ok', message: 'the answer is a web page, which says nothing about the API' }
    return {
      status: apiPath.test(url.pathname) ? 'problem' : 'warning',
      cause: 'api',
      message: `the answer is a web page, not data from an API: ${notHere}`,
    }
  }
  if (/plain HTTP request|HTTP request to an HTTPS/i.test(said))
    return { status: 'problem', cause: 'api', message: 'this port expects https://' }
  if (isRoot && (status === 404 || status === 410))
    return {
      status: 'ok',
      message: 'the external system answers. To check its API, add the path of the API to `--url`',
    }
  return {
    status: 'problem',
    cause: 'api',
    message: `the external system answers, but does not recognize this API call: ${notHere}`,
  }
}

function redirected(url: URL, location: string, { status, isLoop }: ShownAnswer): Judgement {
  if (isLoop)
    return {
      status: 'problem',
      cause: 'api',
      message:
        'the external system redirects to itself in a loop: check the address in its own settings, and the ' +
        'proxy in front of it',
    }
  const to = URL.canParse(location, url.href) ? new URL(location, url.href) : null
  if (to === null)
    return {
      status: 'problem',
      cause: 'api',
      message: `the external system redirects to an invalid address: ${notHere}`,
    }
  const grave = apiPath.test(url.pathname) ? 'problem' : 'warning'
  if (signInPage.test(`${to.host}${to.pathname}`)) {
    if (url.pathname === '/') return { status: 'ok', message: 'the external system redirects to its sign-in page' }
    return {
      status: grave,
      cause: 'api',
      message: `the external system redirects to a sign-in page, but an API would answer 401: ${notHere}`,
    }
  }
  if (to.hostname !== url.hostname)
    return {
      status: grave,
      cause: 'api',
      message:
        'the external system redirects to another host: the external system has moved, or the address is ' +
        'wrong. The other host ' +
        'gets no credentials',
    }
  if (to.protocol !== url.protocol)
    return { status: 'warning', cause: 'api', message: `the address must begin with ${to.protocol}//` }
  if (status === 301 || status === 308)
    return { status: 'warning', cause: 'api', message: 'the external system has moved permanently: change the address' }
  return { status: 'ok', message: 'the external system redirects to another of its own pages' }
}
