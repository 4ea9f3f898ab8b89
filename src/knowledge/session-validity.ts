import { limits } from './limits.ts'

/** Times in a session, in epoch milliseconds, and its life in seconds; null if absent. */
interface Times {
  creationTime: number | null
  lastAccessedTime: number | null
  maxInactiveSeconds: number | null
}

/** Returns the milliseconds that the session lies in the future; null if it has no time. */
export function aheadBy({ creationTime, lastAccessedTime }: Times, now: number): number | null {
  const times = [creationTime, lastAccessedTime].filter((time) => time !== null)
  return times.length === 0 ? null : Math.max(...times) - now
}

/** Returns the milliseconds since the session's time was up; null if it never is (FIELD-NOTES.md 4). */
export function expiredBy({ lastAccessedTime, maxInactiveSeconds }: Times, now: number): number | null {
  if (lastAccessedTime === null || maxInactiveSeconds === null || maxInactiveSeconds < 0) return null
  return now - (lastAccessedTime + maxInactiveSeconds * 1000)
}

/** Returns the milliseconds an expired session may still exist: an indexed repository keeps its hash for a while. */
export function graceMs(indexed: boolean): number {
  return (indexed ? limits.indexedSessionGraceSeconds * 1000 : 0) + limits.sessionToleranceMs
}

/**
 * True if a session is of no use by the store's clock: expired, not yet active, or a rest. A rest lacks its
 * creationTime: a request in progress wrote it back after the session was removed.
 */
export function isStale(times: Times, { now, indexed }: { now: number; indexed: boolean }): boolean {
  if (times.creationTime === null && !isNone(times)) return true
  return (aheadBy(times, now) ?? 0) > limits.sessionToleranceMs || (expiredBy(times, now) ?? 0) > graceMs(indexed)
}

/** True if a session existed at that time, or is one that no clock explains. `now` and `asOf`: by the store's clock. */
export function wasThere({ creationTime }: Times, { asOf, now }: { asOf: number; now: number }): boolean {
  if (creationTime === null) return true
  return creationTime <= asOf + limits.sessionToleranceMs || creationTime > now + limits.sessionToleranceMs
}

function isNone({ creationTime, lastAccessedTime, maxInactiveSeconds }: Times): boolean {
  return creationTime === null && lastAccessedTime === null && maxInactiveSeconds === null
}
