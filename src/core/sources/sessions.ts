import type { ClockReading } from './clock.ts'

export interface SessionsSource {
  /** host:port/database, without credentials */
  readonly target: string
  /** how redis-cli is called to see the same; it asks for the password itself */
  readonly client: string
  identity(): Promise<{ version: string; role: string; loading: boolean }>
  clock(): Promise<ClockReading>
  /** `maxBytes` 0 means no limit */
  memory(): Promise<{ usedBytes: number; maxBytes: number; policy: string; evictedKeys: number }>
  /** looks at no more than `limit` sessions and never reads more of a session than its three times */
  sampleSessions(limit: number): Promise<SessionSample>
}

export interface SessionSample {
  /** as found by the keys' shape; null where no session was seen */
  namespace: string | null
  /** indexed repositories let a hash outlive its session by 300 s (FIELD-NOTES.md 4) */
  indexed: boolean
  /** true where every key of the store was looked at */
  complete: boolean
  sessions: readonly SessionTimes[]
}

/** Times of one session as its writer's clock had them, in epoch milliseconds; null where the field is missing or unreadable. */
export interface SessionTimes {
  creationTime: number | null
  lastAccessedTime: number | null
  maxInactiveSeconds: number | null
  /** time to live as the store has it; null: the key never expires */
  ttlMs: number | null
}
