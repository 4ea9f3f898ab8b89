/** One web session. Times in epoch milliseconds by the clock of the service that wrote it. */
export interface Session {
  id: string
  creationTime: number
  lastAccessedTime: number
  maxInactiveSeconds: number
  csrfToken: string | null
  /** null: not signed in */
  username: string | null
}

/** `absent`: the store has no such key; `stale`: it has, and the session is expired or not yet active by our clock. */
export type FoundSession = { status: 'valid'; session: Session } | { status: 'stale' } | { status: 'absent' }

/**
 * As Spring's MapSession judges (FIELD-NOTES.md 4), and SPEC.md 7's "not yet active"; a second ahead is no more than
 * the jitter of two clocks.
 */
export function isStale({ creationTime, lastAccessedTime, maxInactiveSeconds }: Session, now: number): boolean {
  const expired = maxInactiveSeconds >= 0 && now - maxInactiveSeconds * 1000 >= lastAccessedTime
  return expired || creationTime > now + 1000
}
