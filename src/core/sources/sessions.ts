import type { Suggestion } from '../shell-command.ts'
import type { ClockReading } from '../local-time.ts'

export interface SessionsSource {
  /** host:port/database, without credentials */
  readonly target: string
  /** The redis-cli call that shows the same; it asks for the password itself */
  readonly client: Suggestion
  identity(): Promise<{ version: string; role: string; loading: boolean }>
  clock(): Promise<ClockReading>
  /** `maxBytes` 0 means no limit */
  memory(): Promise<{ usedBytes: number; maxBytes: number; policy: string; evictedKeys: number }>
  /** Looks at no more than `limit` sessions, and never reads more of a session than its three times */
  sampleSessions(limit: number): Promise<SessionSample>
  /**
   * Looks at every key by its name, and at the sessions' times if the selection goes by time. For a repair, not for a
   * diagnosis
   */
  census(selection: SessionSelection): Promise<SessionCensus>
}

/** Selects sessions. */
export interface SessionSelection {
  /** Null: found by the keys' shape */
  namespace: string | null
  /**
   * stale: expired, not yet active, or left without their creationTime; `{ user }`: of that user, by the service's
   * index
   */
  which: 'all' | 'stale' | { user: string }
  /**
   * Time of an earlier count, in epoch ms by the store's clock; sessions that began later are not selected. Null: now
   */
  asOf: number | null
}

/** The result of a count of all keys. Numbers only: ids are credentials. */
export interface SessionCensus {
  /** Of the sessions; null if there are none */
  namespace: string | null
  /** All namespaces that hold sessions, if none was named and several do */
  rivals: readonly { namespace: string; sessions: number }[]
  /** True if an indexed repository wrote them (FIELD-NOTES.md 4) */
  indexed: boolean
  /** Number of selected sessions */
  sessions: number
  /** Number of all sessions of that key space */
  present: number
  /** Number of users with sessions, by the index, whatever the selection; null: there is no index */
  users: number | null
  /** Number of entries of the user's index whose session is gone; 0 unless one user is selected */
  leftovers: number
  /** Number of keys of the database that belong to no session of that key space, and stay as they are */
  foreign: number
  /** When counting began, in epoch ms by the store's clock */
  asOf: number
}

export interface SessionSample {
  /** As found by the keys' shape; null if no session was seen */
  namespace: string | null
  /** Indexed repositories let a hash outlive its session by 300 s (FIELD-NOTES.md 4) */
  indexed: boolean
  /** True if every key of the store was looked at */
  complete: boolean
  sessions: readonly SessionTimes[]
}

/** Times of one session by its writer's clock, in epoch milliseconds; null if the field is missing or unreadable. */
export interface SessionTimes {
  creationTime: number | null
  lastAccessedTime: number | null
  maxInactiveSeconds: number | null
  /** Time to live as the store has it; null: the key never expires */
  ttlMs: number | null
}
