import { AdminError } from '../../core/error.ts'
import { isRecord, jsonOf } from '../http.ts'
import type { HttpClient } from '../http.ts'
import { pause, pauseBefore } from './persistence.ts'
import { isProxyError } from './refusals.ts'
import { healthPath, userPath } from './session.ts'

const firstPauseMs = 250

/**
 * Returns a function that waits until the service answers again. It returns false after `patienceMs`, or if `stopped`
 * is aborted. Only one caller polls, however many wait.
 */
export function awaitReturn(http: HttpClient, stopped: AbortSignal): (patienceMs: number) => Promise<boolean> {
  const look = async (patienceMs: number): Promise<boolean> => {
    const until = performance.now() + patienceMs
    for (let tried = 1; performance.now() < until && !stopped.aborted; tried++) {
      await pause(pauseBefore(Math.min(tried, 4), firstPauseMs), stopped).catch(() => undefined)
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
