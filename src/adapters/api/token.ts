import type { Secret } from '../../core/secret.ts'
import { Secret as Sealed } from '../../core/secret.ts'
import { AdminError } from '../../core/error.ts'
import type { AccessToken } from '../../core/sources.ts'
import { reasonOf } from '../answer-reason.ts'
import { isRecord, jsonOf } from '../http.ts'
import type { HttpAnswer, HttpClient } from '../http.ts'
import { hideSecrets } from './hide.ts'
import { persist } from './persistence.ts'
import { isProxyError, overloaded, redirected, unreached } from './refusals.ts'
import { command, nested, sentence } from '../../core/shell-command.ts'
import type { Suggestion } from '../../core/shell-command.ts'

export interface HeldToken {
  bearer: Secret
  facts: AccessToken
  /**
   * from when it was exchanged; 0: by what came with it, it is over; null: nothing that the service says of it makes
   * sense
   */
  lifeSeconds: number | null
  /** on this machine's steady clock, in milliseconds */
  exchangedAt: number
  /** on this machine's steady clock: neither its own time nor the service's needs to be right */
  renewAt: number
  /** on the same clock; where its life is not known, that of most tokens */
  endsAt: number
}

export const exchangePath = '/api/uaa/oauth/token'

/**
 * Exchanges the API token for a Bearer token (SPEC.md 4.1). Throws UNAUTHENTICATED where it is refused. SPEC.md's empty
 * `Expect` header is how curl is told to send none; sent as it stands, it is answered 417. So none is sent.
 */
export async function exchangeToken(
  http: HttpClient,
  apiToken: Secret,
  { timeoutMs }: { timeoutMs: number },
): Promise<HeldToken> {
  let exchangedAt = performance.now()
  const exchange = async (): Promise<HttpAnswer> => {
    // its life begins before the answer is here
    exchangedAt = performance.now()
    const form = { grant_type: 'apitoken', scope: 'openid', token: apiToken.reveal() }
    // a token more or less changes nothing
    return http.request(exchangePath, { method: 'POST', form, repeatable: true })
  }
  // what these answer has not been taken
  const answer = await persist(exchange, { statuses: [429, 503], afterLoss: false, withinMs: timeoutMs })
  const value = jsonOf(answer)
  const token = isRecord(value) ? value['access_token'] : undefined
  if (answer.status !== 200 || !isRecord(value) || typeof token !== 'string' || token === '')
    throw refusal(answer, http, apiToken)
  if (!/^[\x21-\x7e]+$/.test(token)) throw unusable(http)
  const claims = claimsOf(token)
  const facts: AccessToken = {
    issuedAt: seconds(claims['iat']),
    expiresAt: seconds(claims['exp']),
    expiresInSeconds: seconds(value['expires_in']),
    answeredAt: seconds(Date.parse(answer.headers['date'] ?? '') / 1000),
  }
  const said = lifeOf(facts)
  const life = said ?? usualLifeSeconds
  return {
    bearer: new Sealed(token),
    facts,
    // it is renewed as ever: only a refusal tells for certain, since a proxy that dates answers has a clock of its own
    lifeSeconds: isOver(facts) ? 0 : said,
    exchangedAt,
    renewAt: exchangedAt + Math.max(life - 60, life / 2) * 1000,
    endsAt: exchangedAt + life * 1000,
  }
}

/** where the service does not say it (SPEC.md 5) */
const usualLifeSeconds = 3600

/**
 * What the answer says and what the token says; the shorter where both do. Where the token shows its end alone, its
 * life begins with the answer, as that is dated. Nothing is compared with this machine's clock, which may be an hour
 * off.
 */
function lifeOf({ issuedAt, expiresAt, expiresInSeconds, answeredAt }: AccessToken): number | null {
  const begins = issuedAt ?? answeredAt
  const said = [expiresInSeconds, begins !== null && expiresAt !== null ? expiresAt - begins : null]
  const lives = said.flatMap((life) => (life !== null && life > 0 ? [life] : []))
  return lives.length === 0 ? null : Math.min(...lives)
}

/** Whether the token had expired before it arrived, by the dates in the answer. */
function isOver({ expiresAt, expiresInSeconds, answeredAt }: AccessToken): boolean {
  return (
    (expiresInSeconds !== null && expiresInSeconds <= 0) ||
    (expiresAt !== null && answeredAt !== null && answeredAt >= expiresAt)
  )
}

function refusal(answer: HttpAnswer, http: HttpClient, apiToken: Secret): AdminError {
  const base = http.peer.where
  const url = `${base}${exchangePath}`
  const hide = hideSecrets([apiToken.reveal()])
  const reason = reasonOf(answer, hide)
  if ([400, 401, 403, 404].includes(answer.status)) {
    return new AdminError(
      'UNAUTHENTICATED',
      `POST ${url} refused the API token, or ${base} is not the service's address (${reason})`,
      [...withoutPath(base), newToken(apiToken), ...byHand(url)],
    )
  }
  return (
    (isProxyError(answer) ? unreached(`POST ${url}`, reason, byHand(url)) : null) ??
    redirected({ method: 'POST', base, path: exchangePath }, answer, hide) ??
    overloaded(`POST ${url}`, answer, reason) ??
    new AdminError('UNEXPECTED_ANSWER', `POST ${url} does not answer like the service's token exchange (${reason})`, [
      ...withoutPath(base),
      'correct url in the configuration: use the address of the service itself, not of a sign-in page in front of it',
      ...byHand(url),
    ])
  )
}

function newToken(apiToken: Secret): Suggestion {
  const create = 'create a new API token in the user menu of the web interface, and set apiToken to it'
  // three parts, of which the first is JSON
  const isJwt = /^eyJ[\w-]+\.[\w-]+\.[\w-]*$/.test(apiToken.reveal())
  return isJwt ? sentence`${nested(create)}: the current one looks like a Bearer token, not an API token` : create
}

/** An address copied from a browser leads to a page of the web interface. */
function withoutPath(base: string): Suggestion[] {
  const { origin, pathname } = new URL(base)
  return pathname === '/'
    ? []
    : [command`url: ${origin}   # in the configuration, unless the service is served under a path`]
}

/** No header can carry this text, so it is not a token. */
function unusable(http: HttpClient): AdminError {
  const url = `${http.peer.where}${exchangePath}`
  return new AdminError(
    'UNEXPECTED_ANSWER',
    `POST ${url} gives an invalid access_token: it contains blanks or characters outside ASCII`,
    byHand(url),
  )
}

function byHand(url: string): Suggestion[] {
  return [
    command`printf %s "$TOKEN" | curl -i -F grant_type=apitoken -F scope=openid -F 'token=<-' ${url}   # TOKEN: the API token`,
  ]
}

function claimsOf(token: string): Readonly<Record<string, unknown>> {
  const payload = token.split('.')[1] ?? ''
  const value = jsonOf({ text: Buffer.from(payload, 'base64url').toString('utf8') })
  return isRecord(value) ? value : {}
}

function seconds(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}
