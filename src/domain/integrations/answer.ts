import { AdminError } from '../../core/error.ts'
import type { IntegrationCause, IntegrationStep, ShownAnswer } from '../../core/external-system.ts'
import { command } from '../../core/shell-command.ts'

const signInPage =
  /(?<![a-z])(?:log|sign)[-_]?[io]n(?![a-z])|\bsso\b|saml|oauth|openid|\/cas\b|\/auth(?:n|enticate|entication|orize)?\b|\/sessions?\/new\b/i
const apiPath = /\/(?:api|rest|graphql|v\d+)(?:[./]|$)/i
const notHere = 'the address is not quite that of its API, or the API has changed'

/** Many systems tell who gives no user that what he may not see is not there, or that the request lacks something. */
export function mayHide(answer: ShownAnswer | AdminError | null): boolean {
  return answer !== null && !(answer instanceof AdminError) && [400, 404].includes(answer.status)
}

/**
 * What an answer to a question without credentials tells of the system. `isLetIn`: with credentials, it was answered
 * well.
 */
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
      ? { status: 'ok' as const, message: 'so it says to who gives no user', cause: undefined }
      : judged(url, answer)
  return {
    step: 'answer',
    status,
    message: `${answer.said}: ${message}`,
    ...(cause && { cause }),
    ...(status === 'ok' ? {} : { next }),
  }
}

/** An integration gives none of its own; the service's Java may have one. */
export function clientCertificate(said: string): string {
  return `${said}: whether the service has one cannot be told from here`
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
    return { status: 'unknown', message: clientCertificate('it wants a client certificate') }
  if (status === 401) return { status: 'ok', message: 'it wants a user, as is right of who gives none' }
  if (status === 403)
    return { status: 'unknown', message: 'it lets nobody in without credentials, or nobody from here' }
  if (status === 407 || status === 429)
    return {
      status: 'unknown',
      message: status === 407 ? 'a proxy before it wants a user' : 'it accepts no more calls for now',
    }
  if (status === 405) return { status: 'unknown', message: 'it is there, and does not answer GET' }
  if (status >= 502 && status <= 504)
    return {
      status: 'problem',
      cause: 'connectivity',
      message: 'what stands before it does not reach it, or it is not up',
    }
  if (status >= 500) return { status: 'problem', cause: 'api', message: 'it fails by itself, as its own log may tell' }
  if (status >= 300 && status < 400 && location !== null) return redirected(url, location, answer)
  if (status < 300) {
    if (form !== 'page') return { status: 'ok', message: 'it answers who gives no user, too' }
    if (isRoot) return { status: 'ok', message: 'a web page; of the API this says nothing' }
    return {
      status: apiPath.test(url.pathname) ? 'problem' : 'warning',
      cause: 'api',
      message: `a web page, where an API answers with data: ${notHere}`,
    }
  }
  if (/plain HTTP request|HTTP request to an HTTPS/i.test(said))
    return { status: 'problem', cause: 'api', message: 'this port wants https://' }
  if (isRoot && (status === 404 || status === 410))
    return { status: 'ok', message: 'it is there; of the API this says nothing, since --url names no path' }
  return { status: 'problem', cause: 'api', message: `it is there, and does not know this call: ${notHere}` }
}

function redirected(url: URL, location: string, { status, isLoop }: ShownAnswer): Judgement {
  if (isLoop)
    return {
      status: 'problem',
      cause: 'api',
      message:
        'it redirects to itself, so no request ends: its own address, or the proxy before it, is not set up right',
    }
  const to = URL.canParse(location, url.href) ? new URL(location, url.href) : null
  if (to === null) return { status: 'problem', cause: 'api', message: `it redirects to what is no address: ${notHere}` }
  const grave = apiPath.test(url.pathname) ? 'problem' : 'warning'
  if (signInPage.test(`${to.host}${to.pathname}`)) {
    if (url.pathname === '/') return { status: 'ok', message: 'it sends who is not signed in to its sign-in page' }
    return { status: grave, cause: 'api', message: `a sign-in page, where an API answers 401: ${notHere}` }
  }
  if (to.hostname !== url.hostname)
    return {
      status: grave,
      cause: 'api',
      message:
        'it sends to another host, to which no credentials are sent: it has moved, or the address is not that of its API',
    }
  if (to.protocol !== url.protocol)
    return { status: 'warning', cause: 'api', message: `it wants ${to.protocol}// in the address` }
  if (status === 301 || status === 308)
    return { status: 'warning', cause: 'api', message: 'it has moved for good: the address is to name the new place' }
  return { status: 'ok', message: 'it sends to another of its own pages' }
}
