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

/** `absent`: the store has no such key; `stale`: by the service's clock, it has expired or is not yet active. */
export type FoundSession = { status: 'valid'; session: Session } | { status: 'stale' } | { status: 'absent' }

/**
 * True if the session has expired, by the rule of Spring's MapSession (FIELD-NOTES.md 4), or is "not yet active"
 * (SPEC.md 7). One second ahead is allowed, since two clocks always differ a little.
 */
export function isStale({ creationTime, lastAccessedTime, maxInactiveSeconds }: Session, now: number): boolean {
  const expired = maxInactiveSeconds >= 0 && now - maxInactiveSeconds * 1000 >= lastAccessedTime
  return expired || creationTime > now + 1000
}
