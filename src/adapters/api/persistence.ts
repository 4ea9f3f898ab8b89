import { setTimeout as sleep } from 'node:timers/promises'
import { AdminError } from '../../core/error.ts'
import { systemCode } from '../failure.ts'
import type { HttpAnswer } from '../http.ts'

interface Persistence {
  /** Statuses of an answer after which to retry */
  statuses: readonly number[]
  /** True if a request may be retried after its answer was lost */
  afterLoss: boolean
  /** Milliseconds after the first try within which the last one must begin */
  withinMs: number
  signal?: AbortSignal | undefined
}

const tries = 4

const firstPauseMs = 200

/**
 * Retries a few times with growing pauses, and no sooner than the answer allows (Retry-After). Returns the last
 * outcome.
 */
export async function persist(
  ask: () => Promise<HttpAnswer>,
  { statuses, afterLoss, withinMs, signal }: Persistence,
): Promise<HttpAnswer> {
  const started = performance.now()
  const mayWait = (ms: number): boolean => performance.now() - started + ms <= withinMs
  for (let tried = 1; ; tried++) {
    const own = pauseBefore(tried, firstPauseMs)
    try {
      const answer = await ask()
      if (!statuses.includes(answer.status) || tried === tries) return answer
      const pauseMs = (retryAfterMs(answer) ?? 0) + own
      if (!mayWait(pauseMs)) return answer
      await pause(pauseMs, signal)
    } catch (error) {
      if (!afterLoss || !isLost(error) || tried === tries || !mayWait(own)) throw error
      await pause(own, signal)
    }
  }
}

/**
 * Returns the pause before the next try, in milliseconds. It doubles each time, and varies so that many callers do not
 * retry at the same moment.
 */
export function pauseBefore(tried: number, firstMs: number): number {
  return firstMs * 2 ** (tried - 1) * (0.5 + Math.random() / 2)
}

/** Waits. Throws the reason of an aborted `signal`. */
export async function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { ...(signal && { signal }) }).catch(() => signal?.throwIfAborted())
}

/** Returns the milliseconds that an answer asks to wait, from seconds or a date; null if it does not say. */
export function retryAfterMs({ headers }: Pick<HttpAnswer, 'headers'>): number | null {
  const said = headers['retry-after']?.trim() ?? ''
  if (/^\d+(\.\d+)?$/.test(said)) return Number(said) * 1000
  const until = /[a-z]/i.test(said) ? Date.parse(said) : NaN
  if (Number.isNaN(until)) return null
  // measured on the server's clock, which the date comes from: this machine's may be off
  const now = Date.parse(headers['date'] ?? '')
  return Math.max(0, until - (Number.isNaN(now) ? Date.now() : now))
}

const lost = new Set([
  'ECONNRESET',
  'EPIPE',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_SOCKET_CLOSED',
  'ECONNABORTED',
])

/** True if the connection broke after it was open: the service restarts, or a kept connection was closed. */
export function isLost(error: unknown): boolean {
  return error instanceof AdminError && error.cause !== undefined && lost.has(systemCode(error.cause) ?? '')
}
