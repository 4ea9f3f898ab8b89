import { AdminError } from '../../core/error.ts'
import type { ApiSource } from '../../core/sources.ts'
import { offsetFrom } from '../clock.ts'
import type { ClockSample } from '../clock.ts'
import { isRecord, jsonOf } from '../http.ts'
import type { HttpAnswer, HttpClient } from '../http.ts'
import { listProjects, treeLists } from './lists.ts'
import { migrationJobs } from './migration-jobs.ts'
import { healthPath, userPath } from './session.ts'
import type { ApiSession } from './session.ts'
import { exchangePath } from './token.ts'

/** Reads what the API shows (SPEC.md 4, FIELD-NOTES.md 7). */
export function apiSource(session: ApiSession): ApiSource {
  const { http, timeoutMs } = session
  const trees = treeLists(session)

  const ask = async (): Promise<Sample[]> => {
    const taken: Sample[] = []
    const started = performance.now()
    // stops after a third of the time limit: by then it is clear that the service is slow
    while (taken.length < 5 && performance.now() - started < timeoutMs / 3) {
      const before = Date.now()
      const left = performance.now()
      const answer = await http.request(healthPath)
      taken.push({ answer, before, tookMs: performance.now() - left })
    }
    return taken
  }
  let asking: Promise<Sample[]> | null = null
  /** Measures the speed and the clock of the service with a few requests. Concurrent callers share them. */
  const samples = async (): Promise<Sample[]> => (asking ??= ask().finally(() => (asking = null)))

  return {
    target: http.peer.where,
    async health() {
      const answer = await http.request(healthPath)
      return { httpStatus: answer.status, status: healthOf(answer), durationMs: Math.round(answer.durationMs) }
    },
    recognized: async () => recognized(session),
    async clock() {
      // the header shows whole seconds; if a proxy replaces it, this measures the proxy's clock
      const looks = (await samples()).map(({ answer, ...look }) => ({ ...look, theirs: dateOf(answer, http) }))
      return offsetFrom(looks, 1000)
    },
    accessToken: async () => (await session.token()).facts,
    async currentUser() {
      const answer = await session.read(userPath)
      const user = jsonOf(answer)
      if (answer.status !== 200 || !isRecord(user)) throw session.refusal('GET', userPath, answer)
      return user
    },
    latencies: async () =>
      (await samples())
        .filter(({ answer }) => healthOf(answer) !== null)
        .map(({ answer }) => Math.round(answer.durationMs)),
    migrationJobs: async (wish) => migrationJobs(session, wish),
    projects: async () => listProjects(session),
    trees,
  }
}

interface Sample extends Omit<ClockSample, 'theirs'> {
  answer: HttpAnswer
}

/** Returns Spring's health status; null if the answer is not Spring's. */
function healthOf(answer: HttpAnswer): string | null {
  const value = jsonOf(answer)
  return isRecord(value) && typeof value['status'] === 'string' ? value['status'] : null
}

function dateOf(answer: HttpAnswer, http: HttpClient): number {
  const date = Date.parse(answer.headers['date'] ?? '')
  if (!Number.isNaN(date)) return date
  throw new AdminError('UNEXPECTED_ANSWER', `${http.peer.where} sends no readable Date header`, http.peer.suggestions)
}

/** Verifies that this is the service, by paths it documents besides its health (SPEC.md 4.1, 4.2). Throws EXHAUSTED. */
async function recognized(session: ApiSession): ReturnType<ApiSource['recognized']> {
  try {
    await session.token()
    return { isService: true, shown: `POST ${exchangePath} exchanges the API token` }
  } catch (error) {
    if (!(error instanceof AdminError) || error.code === 'EXHAUSTED') throw error
    const isOpen = error.code === 'UNAUTHENTICATED' || error.code === 'NOT_CONFIGURED'
    const wants = isOpen && (await wantsToken(session))
    return wants
      ? { isService: true, shown: `GET ${userPath} wants a Bearer token` }
      : { isService: false, shown: error.message }
  }
}

/** True if the API wants a token and health does not. If both want one, a proxy guards the whole address. */
async function wantsToken({ http }: ApiSession): Promise<boolean> {
  const [user, health] = [await http.request(userPath), await http.request(healthPath)]
  const isApi = isRecord(jsonOf(user)) || /^bearer\b/i.test(user.headers['www-authenticate'] ?? '')
  return user.status === 401 && isApi && health.status !== 401
}
