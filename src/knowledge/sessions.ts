import { limits } from './limits.ts'

/** The keys that Spring Session's repositories keep in a key space (FIELD-NOTES.md 4). */
export const sessionKeys = {
  /** Hash, of both repositories */
  session: (namespace: string, id: string): string => `${namespace}:sessions:${id}`,
  /** String, the mark of an indexed repository */
  expires: (namespace: string, id: string): string => `${namespace}:sessions:expires:${id}`,
  /** Set of `expires:ID` for each minute */
  expirations: (namespace: string, minute: string): string => `${namespace}:expirations:${minute}`,
  /** Sorted set of ids, in place of these sets since 3.4 */
  sortedExpirations: (namespace: string): string => `${namespace}:sessions:expirations`,
  /** Set of the ids of one user */
  userIndex: (namespace: string, user: string): string => `${namespace}:index:${principalName}:${user}`,
} as const

const principalName = 'org.springframework.session.FindByIndexNameSessionRepository.PRINCIPAL_NAME_INDEX_NAME'

/** Prefix of members of the sets per minute */
export const expiresMember = 'expires:'

/** Escapes a key space for a pattern of Redis, so that special characters stand for themselves. */
export function literally(text: string): string {
  return text.replace(/[\\*?[\]]/g, '\\$&')
}

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

/** How browsers sign in (FIELD-NOTES.md 4: names as seen in public test suites). */
export const webSession = {
  cookie: 'ALLURE_TESTOPS_SESSION',
  csrfCookie: 'XSRF-TOKEN',
  csrfHeader: 'X-XSRF-TOKEN',
  /** SPEC.md 4.5: page for local accounts */
  loginPage: '/login/system',
  signIn: '/api/login/system',
  /** SPEC.md 7: what a stale session answers, with 401 */
  csrfMissing: 'The expected CSRF token could not be found',
} as const
