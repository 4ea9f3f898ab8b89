import { AdminError } from '../../core/error.ts'
import { withoutSecrets } from '../../core/redaction/index.ts'
import type { Secret } from '../../core/secret.ts'
import { Secret as Sealed } from '../../core/secret.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import { command, nested, sentence } from '../../core/shell-command.ts'
import type { AccessToken } from '../../core/sources.ts'
import { reasonOf } from '../answer-reason.ts'
import type { HttpAnswer, HttpClient } from '../http.ts'
import { isRecord, jsonOf } from '../http.ts'
import { isProxyError, overloaded, redirected, unreached } from './refusals.ts'
import { persist } from './persistence.ts'

const shortest = 8

/**
 * Returns a function that masks secrets in a text: whole, in parts of at least `shortest` characters, or URL-encoded. A
 * service may quote the token that it rejects.
 */
export function hideSecrets(secrets: readonly string[]): (text: string) => string {
  const all = [...new Set(secrets.flatMap((secret) => [secret, encodeURIComponent(secret)]))].filter(
    (secret) => secret !== '',
  )
  const parts = new Set(all.flatMap(partsOf))
  return (text) => {
    const whole = all
      .toSorted((a, b) => b.length - a.length)
      .reduce((clean, secret) => clean.replaceAll(secret, '[secret]'), text)
    return withoutSecrets(withoutParts(whole, parts))
  }
}

function partsOf(secret: string): string[] {
  return Array.from({ length: Math.max(0, secret.length - shortest + 1) }, (_, at) => secret.slice(at, at + shortest))
}

/** Masks each stretch of the text that consists of parts of a secret. */
function withoutParts(text: string, parts: ReadonlySet<string>): string {
  let clean = ''
  for (let at = 0; at < text.length; ) {
    let end = at
    for (let from = at; parts.has(text.slice(from, from + shortest)); from++) end = from + shortest
    clean += end > at ? '[secret]' : text.charAt(at)
    at = end > at ? end : at + 1
  }
  return clean
}

export interface HeldToken {
  bearer: Secret
  facts: AccessToken
  /**
   * Seconds from the exchange to the end of its life; 0 if the answer shows it as expired; null if the service gives no
   * usable life
   */
  lifeSeconds: number | null
  /** Time of the exchange on this machine's steady clock, in milliseconds */
  exchangedAt: number
  /** Time to renew it, on the same clock, so that neither machine's date needs to be right */
  renewAt: number
  /** Time of its end, on the same clock; assumes the usual life if the service gives none */
  endsAt: number
}

export const exchangePath = '/api/uaa/oauth/token'

/**
 * Exchanges the API token for a Bearer token (SPEC.md 4.1). Throws UNAUTHENTICATED if it is refused. Sends no `Expect`
 * header: the empty one in SPEC.md tells curl to send none. Sent literally, it is answered with 417.
 */
export async function exchangeToken(
  http: HttpClient,
  apiToken: Secret,
  { timeoutMs }: { timeoutMs: number },
): Promise<HeldToken> {
  let exchangedAt = performance.now()
  const exchange = async (): Promise<HttpAnswer> => {
    // the token's life begins before its answer arrives
    exchangedAt = performance.now()
    const form = { grant_type: 'apitoken', scope: 'openid', token: apiToken.reveal() }
    // an extra token does no harm
    return http.request(exchangePath, { method: 'POST', form, repeatable: true })
  }
  // the service has not accepted a call that it answers like this
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
    // it is renewed as usual: a proxy may date the answer by its own clock, so that only a refusal is certain
    lifeSeconds: isOver(facts) ? 0 : said,
    exchangedAt,
    renewAt: exchangedAt + Math.max(life - 60, life / 2) * 1000,
    endsAt: exchangedAt + life * 1000,
  }
}

/** seconds of life to assume if the service gives none (SPEC.md 5) */
const usualLifeSeconds = 3600

/**
 * Returns the token's life in seconds; null if unknown. Takes the shorter of what the answer and the token say. If the
 * token shows only its end, its life begins at the date of the answer. This machine's clock is not used: it may be an
 * hour off.
 */
function lifeOf({ issuedAt, expiresAt, expiresInSeconds, answeredAt }: AccessToken): number | null {
  const begins = issuedAt ?? answeredAt
  const said = [expiresInSeconds, begins !== null && expiresAt !== null ? expiresAt - begins : null]
  const lives = said.flatMap((life) => (life !== null && life > 0 ? [life] : []))
  return lives.length === 0 ? null : Math.min(...lives)
}

/** True if the token had expired before it arrived, by the dates in the answer. */
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
    new AdminError('UNEXPECTED_ANSWER', `POST ${url} returned an unexpected answer to the token exchange (${reason})`, [
      ...withoutPath(base),
      'correct `url` in the configuration: use the address of the service itself, not of a sign-in page',
      ...byHand(url),
    ])
  )
}

function newToken(apiToken: Secret): Suggestion {
  const create = 'create a new API token in the user menu of the web interface, and set `apiToken` to this token'
  // a JWT has three parts; the first is JSON
  const isJwt = /^eyJ[\w-]+\.[\w-]+\.[\w-]*$/.test(apiToken.reveal())
  return isJwt ? sentence`${nested(create)}. The current token looks like a Bearer token, not an API token` : create
}

/** Suggests the address without its path: one copied from a browser leads to a page of the web interface. */
function withoutPath(base: string): Suggestion[] {
  const { origin, pathname } = new URL(base)
  return pathname === '/'
    ? []
    : [
        command`url: ${origin}   # set this in the configuration, unless the address of the service includes
          ${pathname}`,
      ]
}

/** No header can carry this text, so it is not a token. */
function unusable(http: HttpClient): AdminError {
  const url = `${http.peer.where}${exchangePath}`
  return new AdminError(
    'UNEXPECTED_ANSWER',
    `POST ${url} returned an invalid \`access_token\`: it contains whitespace or non-ASCII characters`,
    byHand(url),
  )
}

function byHand(url: string): Suggestion[] {
  return [
    command`printf %s "$TOKEN" | curl -i -F grant_type=apitoken -F scope=openid -F 'token=<-' ${url}   # TOKEN: the API
      token`,
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

type Exchange = () => Promise<HeldToken>

/** The Bearer token that all callers of a deployment share. Concurrent callers share one exchange. */
export interface TokenKeeper {
  /**
   * Returns the token. Exchanges it on first use, and renews it shortly before it expires. If the renewal fails, the
   * old token serves until it expires.
   */
  current(exchange: Exchange): Promise<HeldToken>
  /**
   * Returns a token to replace the refused one. Returns null if the refused one was itself a replacement that was never
   * accepted. Another exchange would not help then, and thousands of calls would each make one.
   */
  instead(refused: HeldToken, exchange: Exchange): Promise<HeldToken | null>
  /** Records that the service accepted the token */
  accepted(token: HeldToken): void
}

/** milliseconds without another try after a failed renewal, however many calls there are */
const restMs = 5000

export function tokenKeeper(): TokenKeeper {
  let held: HeldToken | null = null
  /** the exchange in progress, shared by all who wait */
  let underway: Promise<HeldToken> | null = null
  /** the token that was exchanged after a refusal, and not accepted since */
  let suspect: HeldToken | null = null
  /** no renewal begins before this time of the steady clock, in milliseconds */
  let restsUntil = 0

  const exchanged = async (exchange: Exchange): Promise<HeldToken> =>
    (underway ??= exchange()
      .then((fresh) => (held = fresh))
      .finally(() => (underway = null)))

  return {
    async current(exchange) {
      const old = held
      if (underway === null && old !== null && performance.now() < Math.max(old.renewAt, restsUntil)) return old
      try {
        return await exchanged(exchange)
      } catch (error) {
        const now = performance.now()
        // a token that was refused meanwhile is no longer held
        if (old === null || held !== old || now >= old.endsAt) throw error
        restsUntil = Math.min(now + restMs, old.endsAt)
        return old
      }
    },
    async instead(refused, exchange) {
      if (suspect === refused) return null
      // another caller may have exchanged a new token already
      if (held !== null && held !== refused) return held
      if (held === refused) held = null
      const begins = underway === null
      const fresh = await exchanged(exchange)
      if (begins) suspect = fresh
      return fresh
    },
    accepted(token) {
      if (suspect === token) suspect = null
    },
  }
}
