import type { ApiEndpoint, Opened } from '../../core/endpoint.ts'
import { AdminError } from '../../core/error.ts'
import type { ApiSource } from '../../core/sources.ts'
import { reasonOf } from '../answer-reason.ts'
import { offsetFrom } from '../clock.ts'
import type { ClockSample } from '../clock.ts'
import { isRecord, jsonOf, openHttp } from '../http.ts'
import type { HttpAnswer, HttpClient } from '../http.ts'
import { migrationJobs } from './migration-jobs.ts'
import { exchangeToken } from './token.ts'
import type { HeldToken } from './token.ts'

const healthPath = '/api/management/health'

/**
 * The service's HTTP API (SPEC.md 4, FIELD-NOTES.md 7), proven to answer: a health that is DOWN is an answer, a proxy's error
 * page is none. Throws UNREACHABLE, TIMED_OUT, UNEXPECTED_ANSWER, CONFIGURATION.
 */
export async function openApi(endpoint: ApiEndpoint, { timeoutMs }: { timeoutMs: number }): Promise<Opened<ApiSource>> {
  const base = endpoint.baseUrl.replace(/\/+$/, '')
  const http = await openHttp({
    what: 'the service',
    baseUrl: base,
    suggestions: [`curl -i ${base}${healthPath}`],
    ca: endpoint.ca,
    verify: true,
    timeoutMs,
    maxBytes: 10_000_000,
  })
  try {
    const answer = await http.request(healthPath)
    if ([502, 503, 504].includes(answer.status) && !isRecord(jsonOf(answer))) {
      throw new AdminError(
        'UNREACHABLE',
        `a proxy answers for ${base}, and does not reach the service behind it (${reasonOf(answer)})`,
        http.peer.suggestions,
      )
    }
    return { source: apiSource(endpoint, http, timeoutMs), close: async () => http.close() }
  } catch (error) {
    await http.close()
    throw error
  }
}

function apiSource(endpoint: ApiEndpoint, http: HttpClient, timeoutMs: number): ApiSource {
  let held: Promise<HeldToken> | null = null

  const token = async (): Promise<HeldToken> => {
    const { apiToken } = endpoint
    if (apiToken === null)
      throw new AdminError('NOT_CONFIGURED', 'no apiToken is configured', ['set apiToken in the configuration'])
    const current = held
    const known = current === null ? null : await current
    if (held === current && (known === null || performance.now() >= known.renewAt)) {
      const fresh = exchangeToken(http, apiToken)
      held = fresh
      // a refusal is not kept: the next question asks again
      fresh.catch(() => (held = null))
    }
    return held ?? token()
  }

  /** A call with the Bearer token, which is exchanged anew once where it is no longer accepted. */
  const call = async (path: string): Promise<HttpAnswer> => {
    const send = async (): Promise<HttpAnswer> => {
      const { bearer } = await token()
      return http.request(path, { headers: { authorization: `Bearer ${bearer.reveal()}` } })
    }
    const first = await send()
    if (first.status !== 401) return first
    held = null
    return send()
  }

  const ask = async (): Promise<Sample[]> => {
    const taken: Sample[] = []
    const started = performance.now()
    // a slow service is not asked more often than it takes to know that it is slow
    while (taken.length < 5 && performance.now() - started < timeoutMs / 3) {
      const before = Date.now()
      const left = performance.now()
      const answer = await http.request(healthPath)
      taken.push({ answer, before, tookMs: performance.now() - left })
    }
    return taken
  }
  let asking: Promise<Sample[]> | null = null
  /** The same few questions tell how quick the service is and what its clock shows: who asks meanwhile shares them. */
  const samples = async (): Promise<Sample[]> => (asking ??= ask().finally(() => (asking = null)))

  return {
    target: http.peer.where,
    async health() {
      const answer = await http.request(healthPath)
      return { httpStatus: answer.status, status: healthOf(answer), durationMs: Math.round(answer.durationMs) }
    },
    async clock() {
      // the header shows whole seconds; behind a proxy that sets it anew it is the proxy's clock
      const looks = (await samples()).map(({ answer, ...look }) => ({ ...look, theirs: dateOf(answer, http) }))
      return offsetFrom(looks, 1000)
    },
    accessToken: async () => (await token()).facts,
    async currentUser() {
      const answer = await call('/api/uaa/me')
      const user = jsonOf(answer)
      if (answer.status !== 200 || !isRecord(user)) throw refusal(answer, '/api/uaa/me', http)
      return user
    },
    latencies: async () => (await samples()).map(({ answer }) => Math.round(answer.durationMs)),
    async migrationJobs() {
      const path = '/api/migration/job'
      const answer = await call(`${path}?page=0&size=100&sort=id,DESC`)
      if ([404, 405, 501].includes(answer.status)) return null
      const jobs = answer.status === 200 ? migrationJobs(jsonOf(answer)) : null
      if (jobs === null) throw refusal(answer, path, http)
      return jobs
    },
  }
}

interface Sample extends Omit<ClockSample, 'theirs'> {
  answer: HttpAnswer
}

/** Spring's health status; null where the answer is not Spring's. */
function healthOf(answer: HttpAnswer): string | null {
  const value = jsonOf(answer)
  return isRecord(value) && typeof value['status'] === 'string' ? value['status'] : null
}

function dateOf(answer: HttpAnswer, http: HttpClient): number {
  const date = Date.parse(answer.headers['date'] ?? '')
  if (!Number.isNaN(date)) return date
  throw new AdminError('UNEXPECTED_ANSWER', `${http.peer.where} sends no readable Date header`, http.peer.suggestions)
}

function refusal(answer: HttpAnswer, path: string, http: HttpClient): AdminError {
  const url = `${http.peer.where}${path}`
  const suggestions = [`printf 'header = "Authorization: Bearer %s"' "$ACCESS_TOKEN" | curl -i -K - ${url}`]
  if (answer.status === 401)
    return new AdminError('UNAUTHENTICATED', `${url} does not accept the Bearer token (${reasonOf(answer)})`, suggestions)
  if (answer.status === 403)
    return new AdminError('FORBIDDEN', `${url} is not allowed for this API token's user (${reasonOf(answer)})`, suggestions)
  return new AdminError('UNEXPECTED_ANSWER', `${url} does not answer as the service does (${reasonOf(answer)})`, suggestions)
}
