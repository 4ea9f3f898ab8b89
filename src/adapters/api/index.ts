import { setMaxListeners } from 'node:events'
import type { ApiControl, ApiLogin, MigrationAnswer, MigrationCall, MigrationItem } from '../../core/api-control.ts'
import type { ApiEndpoint, Opened } from '../../core/endpoint.ts'
import type { ApiSource } from '../../core/sources.ts'
import { healthPath, openSession, userPath } from './session.ts'
import { apiSource } from './source.ts'
import { tokenKeeper } from './token.ts'
import type { TokenKeeper } from './token.ts'
import type { ApiSession } from './session.ts'
import type { ErrorCode } from '../../core/error.ts'
import { AdminError } from '../../core/error.ts'
import { command } from '../../core/shell-command.ts'
import { unlessAborted } from '../../core/work.ts'
import { seconds } from '../failure.ts'
import type { HttpAnswer, HttpClient } from '../http.ts'
import { isRecord, jsonOf } from '../http.ts'
import { isProxyError } from './refusals.ts'
import { isLost, pause, pauseBefore, retryAfterMs } from './persistence.ts'

export { tokenKeeper }

interface OpenOptions {
  /** Milliseconds to wait for each answer */
  timeoutMs: number
  /** Shared by all connections to one deployment, so that one exchange serves all */
  tokens?: TokenKeeper
}

/**
 * Opens the service's HTTP API for reading (SPEC.md 4, FIELD-NOTES.md 7) and verifies that it answers. Throws
 * UNREACHABLE, TIMED_OUT, UNEXPECTED_ANSWER, CONFIGURATION.
 */
export async function openApi(
  endpoint: ApiEndpoint,
  { timeoutMs, tokens = tokenKeeper() }: OpenOptions,
): Promise<Opened<ApiSource>> {
  const session = await openSession(endpoint, { timeoutMs, tokens })
  return { source: apiSource(session), close: async () => session.http.close() }
}

/** Opens access to the Bearer token for API calls. Throws as `openApi` does. */
export async function openApiLogin(
  endpoint: ApiEndpoint,
  { timeoutMs, tokens = tokenKeeper() }: OpenOptions,
): Promise<Opened<ApiLogin>> {
  const session = await openSession(endpoint, { timeoutMs, tokens })
  return { source: apiLogin(session), close: async () => session.http.close() }
}

/** Opens the service's HTTP API for changes. Throws as `openApi` does. */
export async function openApiControl(
  endpoint: ApiEndpoint,
  { timeoutMs, tokens = tokenKeeper() }: OpenOptions,
): Promise<Opened<ApiControl>> {
  const session = await openSession(endpoint, { timeoutMs, tokens })
  const closing = new AbortController()
  return {
    source: apiControl(session, closing.signal),
    async close() {
      closing.abort()
      await session.http.close()
    },
  }
}

function apiLogin(session: ApiSession): ApiLogin {
  return {
    target: session.http.peer.where,
    async bearer() {
      const { bearer, lifeSeconds, exchangedAt } = await session.token()
      if (lifeSeconds === null) return { token: bearer, expiresInSeconds: null, expiresAt: null }
      const leftMs = Math.max(0, lifeSeconds * 1000 - (performance.now() - exchangedAt))
      return { token: bearer, expiresInSeconds: Math.floor(leftMs / 1000), expiresAt: new Date(Date.now() + leftMs) }
    },
  }
}

const firstWaitMs = 250

/**
 * Returns a function that waits until the service answers again. It returns false after `patienceMs`, or if `stopped`
 * is aborted. Only one caller polls, however many wait.
 */
function awaitReturn(http: HttpClient, stopped: AbortSignal): (patienceMs: number) => Promise<boolean> {
  const look = async (patienceMs: number): Promise<boolean> => {
    const until = performance.now() + patienceMs
    for (let tried = 1; performance.now() < until && !stopped.aborted; tried++) {
      await pause(pauseBefore(Math.min(tried, 4), firstWaitMs), stopped).catch(() => undefined)
      if (await answers(http)) return true
    }
    return false
  }
  let looking: Promise<boolean> | null = null
  return async (patienceMs) => (looking ??= look(patienceMs).finally(() => (looking = null)))
}

async function answers(http: HttpClient): Promise<boolean> {
  try {
    const health = await http.request(healthPath)
    if (isProxyError(health)) return false
    // a sign-in page may guard the health path alone, even while the service is down
    return isRecord(jsonOf(health)) || !isProxyError(await http.request(userPath))
  } catch (error) {
    if (error instanceof AdminError) return false
    throw error
  }
}

/** tries of one call, if the answer does not say when to retry */
const mostTries = 6
const firstPauseMs = 1000
const longestPauseMs = 30_000
/** errors that fail only this call, or retry it while the service may come back; others are thrown */
const troubles: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'UNREACHABLE',
  'TIMED_OUT',
  'EXHAUSTED',
  'UNEXPECTED_ANSWER',
])

/** Requests migrations (SPEC.md 4.3, 4.4). Aborting `stopped` ends the wait for a service that stopped answering. */
function apiControl(session: ApiSession, stopped: AbortSignal): ApiControl {
  const returned = awaitReturn(session.http, stopped)
  return {
    target: session.http.peer.where,
    async migrateTrees(item, { signal, patienceMs, again, underway, waiting }) {
      // every call under way adds a listener
      setMaxListeners(0, signal)
      const path = pathOf(item)
      const until = performance.now() + patienceMs
      /** Waits until the service answers again. Throws UNREACHABLE if it does not: the next call would fail too. */
      const comesBack = async (gone: string): Promise<void> => {
        waiting('the service stopped answering: waiting until it answers again')
        if (await unlessAborted(returned(patienceMs), signal, () => signal.reason as Error)) return
        throw new AdminError(
          'UNREACHABLE',
          `${gone}. The service did not come back within ${seconds(patienceMs)}`,
          session.http.peer.suggestions,
        )
      }
      for (let tried = 1; ; tried++) {
        const { answer, error, isUnderway } = await attempt(session, path, { signal, underway })
        if (error !== null) {
          if (!troubles.has(error.code)) throw error
          const end: MigrationAnswer = {
            status: isUnderway ? 'unknown' : 'refused',
            httpStatus: 0,
            message: error.message,
          }
          if (!isAway(error, isUnderway) || tried === mostTries) return end
          await comesBack(error.message)
          if (isUnderway && !(await again())) return end
          continue
        }
        const { status } = answer
        if (status === 502 && tried < mostTries) {
          // the service may have accepted the call: it counts as under way if the wait is interrupted
          underway(true)
          await comesBack(session.reason(answer))
          if (await again()) continue
        }
        if (status === 429 || status === 503) {
          const saidMs = retryAfterMs(answer)
          const pauseMs = (saidMs ?? 0) + Math.min(longestPauseMs, pauseBefore(tried, firstPauseMs))
          const isInTime = performance.now() + pauseMs <= until
          if (saidMs !== null && !isInTime) throw asksToWait(session, path, answer, saidMs)
          if (isInTime && (saidMs !== null || tried < mostTries)) {
            if (saidMs !== null && saidMs > firstPauseMs)
              waiting(`the service asks testops-admin to wait ${seconds(saidMs)} (HTTP ${status})`)
            await pause(pauseMs, signal)
            // a proxy gives this answer while the service restarts
            if (isProxyError(answer)) await comesBack(session.reason(answer))
            continue
          }
        }
        return answerOf(answer, path, session)
      }
    },
  }
}

type Attempt =
  | { answer: HttpAnswer; error: null; isUnderway: false }
  | { answer: null; error: AdminError; isUnderway: boolean }

/**
 * Sends one call. `isUnderway` is true if there is no answer, but the service may have accepted the call. Throws bugs,
 * and the reason of an aborted `signal`.
 */
async function attempt(
  session: ApiSession,
  path: string,
  { signal, underway }: Pick<MigrationCall, 'signal' | 'underway'>,
): Promise<Attempt> {
  let isUnderway = false
  const tell = (is: boolean): void => underway((isUnderway = is))
  tell(false)
  try {
    return { answer: await session.send(path, { signal, underway: tell }), error: null, isUnderway: false }
  } catch (error) {
    if (signal.aborted || !(error instanceof AdminError)) throw error
    return { answer: null, error, isUnderway }
  }
}

function pathOf({ project, tree }: MigrationItem): string {
  return `/api/project/${project}/test-case/tree/${tree === null ? '' : `${tree}/`}migration`
}

/** True if the service may come back soon. A call that was sent but timed out is never sent twice. */
function isAway(error: AdminError, isUnderway: boolean): boolean {
  if (error.code === 'TIMED_OUT') return !isUnderway
  if (error.code === 'UNREACHABLE') return error.obstacle === null || error.obstacle.kind === 'refused'
  return isLost(error)
}

function asksToWait({ http, reason }: ApiSession, path: string, answer: HttpAnswer, waitMs: number): AdminError {
  return new AdminError(
    'EXHAUSTED',
    `POST ${http.peer.where}${path}: the service asks testops-admin to wait ${seconds(waitMs)} (${reason(answer)})`,
    [command`sleep ${Math.ceil(waitMs / 1000)}   # then resume the run. To make the run wait longer, set --patience`],
  )
}

function answerOf(answer: HttpAnswer, path: string, session: ApiSession): MigrationAnswer {
  const { status, headers, text } = answer
  // a page comes from something other than the service, such as a sign-in
  const isPage = /^\s*</.test(text)
  if (status >= 200 && status < 300 && !isPage) return { status: 'accepted' }
  const isElsewhere = status < 300 || (status < 400 && headers['location'] !== undefined)
  if (isElsewhere) return { status: 'refused', httpStatus: 0, message: session.refusal('POST', path, answer).message }
  // a proxy that lost the service, or stopped waiting for it, may have passed the call on
  return {
    status: status === 502 || status === 504 ? 'unknown' : 'refused',
    httpStatus: status,
    message: session.reason(answer),
  }
}
