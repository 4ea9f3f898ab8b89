import { limits } from './limits.ts'

/** What a session says of its own time, in epoch milliseconds; null where it does not. */
interface Times {
  creationTime: number | null
  lastAccessedTime: number | null
  maxInactiveSeconds: number | null
}

/** How far the session lies in the future; null where it bears no time. */
export function aheadBy({ creationTime, lastAccessedTime }: Times, now: number): number | null {
  const times = [creationTime, lastAccessedTime].filter((time) => time !== null)
  return times.length === 0 ? null : Math.max(...times) - now
}

/** How long ago the session's time was up; null where it never is (FIELD-NOTES.md 4). */
export function expiredBy({ lastAccessedTime, maxInactiveSeconds }: Times, now: number): number | null {
  if (lastAccessedTime === null || maxInactiveSeconds === null || maxInactiveSeconds < 0) return null
  return now - (lastAccessedTime + maxInactiveSeconds * 1000)
}

/** What a session may be expired for and still be there: an indexed repository keeps its hash for a while. */
export function graceMs(indexed: boolean): number {
  return (indexed ? limits.indexedSessionGraceSeconds * 1000 : 0) + limits.sessionToleranceMs
}

/**
 * Whether a session is of no use by the store's clock: expired, not yet active, or what a request that was under way
 * has written back of a session that was removed, which lacks its creationTime.
 */
export function isStale(times: Times, { now, indexed }: { now: number; indexed: boolean }): boolean {
  if (times.creationTime === null && !isNone(times)) return true
  return (aheadBy(times, now) ?? 0) > limits.sessionToleranceMs || (expiredBy(times, now) ?? 0) > graceMs(indexed)
}

/**
 * Whether a session was there at that time, or is one that no clock explains. `now` and `asOf` by the store's clock.
 */
export function wasThere({ creationTime }: Times, { asOf, now }: { asOf: number; now: number }): boolean {
  if (creationTime === null) return true
  return creationTime <= asOf + limits.sessionToleranceMs || creationTime > now + limits.sessionToleranceMs
}

function isNone({ creationTime, lastAccessedTime, maxInactiveSeconds }: Times): boolean {
  return creationTime === null && lastAccessedTime === null && maxInactiveSeconds === null
}
