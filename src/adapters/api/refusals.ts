import { AdminError } from '../../core/error.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import { command, nested } from '../../core/shell-command.ts'
import { reasonOf } from '../answer-reason.ts'
import { seconds } from '../failure.ts'
import type { HttpAnswer } from '../http.ts'
import { isRecord, jsonOf } from '../http.ts'
import { retryAfterMs } from './persistence.ts'

/** A call to the API, as error messages show it. */
export interface Call {
  method: 'GET' | 'POST'
  /** base address, as configured */
  base: string
  /** path without base address and query */
  path: string
}

/** Explains an unexpected answer to the operator. `hide` removes tokens from it. */
export function refusal(call: Call, answer: HttpAnswer, hide: (text: string) => string): AdminError {
  const { method, base, path } = call
  const what = `${method} ${base}${path}`
  const reason = reasonOf(answer, hide)
  const post = method === 'POST' ? '-X POST ' : ''
  const suggestions = [
    command`printf 'header = "Authorization: Bearer %s"' "$ACCESS_TOKEN" | curl -i -K -
      ${nested(post)}${`${base}${path}`}`,
  ]
  if (answer.status === 401)
    return new AdminError('UNAUTHENTICATED', `${what} does not accept the Bearer token (${reason})`, suggestions)
  if (answer.status === 403)
    return new AdminError('FORBIDDEN', `${what} is not allowed for this API token's user (${reason})`, suggestions)
  return (
    (isProxyError(answer) ? unreached(what, reason, suggestions) : null) ??
    redirected(call, answer, hide) ??
    overloaded(what, answer, reason) ??
    new AdminError('UNEXPECTED_ANSWER', `${what} returned an unexpected answer (${reason})`, suggestions)
  )
}

/** True if a proxy answers because it cannot reach the service. */
export function isProxyError(answer: HttpAnswer): boolean {
  return [502, 503, 504].includes(answer.status) && !isRecord(jsonOf(answer))
}

export function unreached(call: string, reason: string, suggestions: readonly Suggestion[]): AdminError {
  return new AdminError(
    'UNREACHABLE',
    `a proxy answers ${call}, but cannot reach the service behind it (${reason})`,
    suggestions,
  )
}

/** Returns an error if the address redirects, else null. A redirect is not followed: the token would go with it. */
export function redirected(call: Call, answer: HttpAnswer, hide: (text: string) => string): AdminError | null {
  const target = targetOf(call, answer)
  if (target === null) return null
  const { method, base, path } = call
  const from = new URL(base)
  const where =
    target.host !== from.host
      ? 'another host'
      : target.protocol !== from.protocol
        ? 'another protocol'
        : 'another address'
  const moved = movedTo(call, answer)
  return new AdminError(
    'UNEXPECTED_ANSWER',
    `${method} ${base}${path} redirects to ${where}, ${hide(`${target.origin}${target.pathname}`)} (HTTP ` +
      `${answer.status}). The redirect was not followed, to protect the token`,
    moved !== null && moved === hide(moved)
      ? [command`url: ${moved}   # set this in the configuration, if the service is at this address`]
      : [
          command`curl -i ${`${base}${path}`}   # shows the redirect; in the configuration, url must be the address of
            the service itself`,
        ],
  )
}

/** Returns the base address that a redirect of the same path implies; null if it leads to another path. */
export function movedTo(call: Call, answer: HttpAnswer): string | null {
  const target = targetOf(call, answer)
  if (!target?.pathname.endsWith(call.path)) return null
  const moved = `${target.origin}${target.pathname.slice(0, -call.path.length)}`
  return moved === new URL(call.base).href.replace(/(?<!\/)\/+$/, '') ? null : moved
}

function targetOf({ base, path }: Call, { status, headers: { location } }: HttpAnswer): URL | null {
  if (status < 300 || status >= 400 || location === undefined || !URL.canParse(location, `${base}${path}`)) return null
  return new URL(location, `${base}${path}`)
}

/** Returns EXHAUSTED if the service asks for fewer calls (HTTP 429), else null. */
export function overloaded(what: string, answer: HttpAnswer, reason: string): AdminError | null {
  if (answer.status !== 429) return null
  const waitMs = retryAfterMs(answer)
  const wish = waitMs === null ? 'make fewer calls' : `wait ${seconds(waitMs)}`
  return new AdminError('EXHAUSTED', `${what}: the service asks testops-admin to ${wish} (${reason})`, [
    waitMs === null
      ? 'wait, then run the same command again'
      : command`sleep ${Math.ceil(waitMs / 1000)}   # then run the same command again`,
  ])
}
