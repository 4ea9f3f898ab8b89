import { AdminError } from '../../core/error.ts'
import type { HttpClient } from '../http.ts'
import { pause, pauseBefore } from './persistence.ts'
import { isProxyError } from './refusals.ts'
import { healthPath } from './session.ts'

const firstPauseMs = 250

/**
 * Waits until a service that has gone away answers again; false where it does not within `patienceMs`, or `stopped` is aborted.
 * However many wait, one of them looks.
 */
export function awaitReturn(http: HttpClient, { patienceMs, stopped }: { patienceMs: number; stopped: AbortSignal }): () => Promise<boolean> {
  const look = async (): Promise<boolean> => {
    const until = performance.now() + patienceMs
    for (let tried = 1; performance.now() < until && !stopped.aborted; tried++) {
      await pause(pauseBefore(Math.min(tried, 4), firstPauseMs), stopped).catch(() => undefined)
      if (await answers(http)) return true
    }
    return false
  }
  let looking: Promise<boolean> | null = null
  return async () => (looking ??= look().finally(() => (looking = null)))
}

async function answers(http: HttpClient): Promise<boolean> {
  try {
    return !isProxyError(await http.request(healthPath))
  } catch (error) {
    if (error instanceof AdminError) return false
    throw error
  }
}
