import type { Secret } from '../../core/secret.ts'
import { Secret as Sealed } from '../../core/secret.ts'
import { AdminError } from '../../core/error.ts'
import type { AccessToken } from '../../core/sources.ts'
import { reasonOf } from '../answer-reason.ts'
import { isRecord, jsonOf } from '../http.ts'
import type { HttpAnswer, HttpClient } from '../http.ts'

export interface HeldToken {
  bearer: Secret
  facts: AccessToken
  /** on this machine's steady clock: neither its own time nor the service's needs to be right */
  renewAt: number
}

/**
 * Exchanges the API token for a Bearer token (SPEC.md 4.1). Throws UNAUTHENTICATED where it is refused.
 * SPEC.md's empty `Expect` header is how curl is told to send none; sent as it stands, it is answered 417. So none is sent.
 */
export async function exchangeToken(http: HttpClient, apiToken: Secret): Promise<HeldToken> {
  const answer = await http.request('/api/uaa/oauth/token', {
    method: 'POST',
    form: { grant_type: 'apitoken', scope: 'openid', token: apiToken.reveal() },
  })
  const value = jsonOf(answer)
  const token = isRecord(value) ? value['access_token'] : undefined
  if (answer.status !== 200 || !isRecord(value) || typeof token !== 'string' || token === '') throw refusal(answer, http)
  if (!/^[\x21-\x7e]+$/.test(token)) throw unusable(http)
  const claims = claimsOf(token)
  const facts: AccessToken = {
    issuedAt: seconds(claims['iat']),
    expiresAt: seconds(claims['exp']),
    expiresInSeconds: seconds(value['expires_in']),
  }
  const lifeSeconds =
    facts.expiresInSeconds ?? (facts.issuedAt !== null && facts.expiresAt !== null ? facts.expiresAt - facts.issuedAt : 3600)
  return { bearer: new Sealed(token), facts, renewAt: performance.now() + Math.max(lifeSeconds - 60, lifeSeconds / 2) * 1000 }
}

function refusal(answer: HttpAnswer, http: HttpClient): AdminError {
  const url = `${http.peer.where}/api/uaa/oauth/token`
  if ([400, 401, 403, 404].includes(answer.status)) {
    return new AdminError(
      'UNAUTHENTICATED',
      `${url} refused the API token, or ${http.peer.where} is not the service's address (${reasonOf(answer)})`,
      ['create a new API token in the user menu of the web interface, and set apiToken to it', ...byHand(url)],
    )
  }
  return new AdminError(
    'UNEXPECTED_ANSWER',
    `${url} does not answer as the service's token exchange does (${reasonOf(answer)})`,
    byHand(url),
  )
}

/** No header can carry it, so it is none. */
function unusable(http: HttpClient): AdminError {
  const url = `${http.peer.where}/api/uaa/oauth/token`
  return new AdminError(
    'UNEXPECTED_ANSWER',
    `${url} gives an access_token that holds blanks or characters that are no ASCII, which no Bearer token has`,
    byHand(url),
  )
}

function byHand(url: string): string[] {
  return [
    `printf %s "$TOKEN" | curl -i -F grant_type=apitoken -F scope=openid -F 'token=<-' ${url}   # TOKEN: the API token`,
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
