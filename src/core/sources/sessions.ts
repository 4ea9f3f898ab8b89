import type { Suggestion } from '../shell-command.ts'
import type { ClockReading } from './clock.ts'

export interface SessionsSource {
  /** host:port/database, without credentials */
  readonly target: string
  /** how redis-cli is called to see the same; it asks for the password itself */
  readonly client: Suggestion
  identity(): Promise<{ version: string; role: string; loading: boolean }>
  clock(): Promise<ClockReading>
  /** `maxBytes` 0 means no limit */
  memory(): Promise<{ usedBytes: number; maxBytes: number; policy: string; evictedKeys: number }>
  /** looks at no more than `limit` sessions and never reads more of a session than its three times */
  sampleSessions(limit: number): Promise<SessionSample>
  /**
   * looks at every key by its name, and where the selection goes by time at the sessions' times: for a repair, not for
   * a diagnosis
   */
  census(selection: SessionSelection): Promise<SessionCensus>
}

/** Which sessions are meant. */
export interface SessionSelection {
  /** null: found by the keys' shape */
  namespace: string | null
  /**
   * stale: expired, not yet active, or left without their creationTime; `{ user }`: of that user, by the service's
   * index
   */
  which: 'all' | 'stale' | { user: string }
  /**
   * epoch ms by the store's clock: of a count that was made then; sessions that were begun later are not meant. Null:
   * now
   */
  asOf: number | null
}

/** What a count of all keys came to. Numbers only: ids are credentials. */
export interface SessionCensus {
  /** of the sessions; null where there are none */
  namespace: string | null
  /** where none was named and several hold sessions: all of them */
  rivals: readonly { namespace: string; sessions: number }[]
  /** whether an indexed repository wrote them (FIELD-NOTES.md 4) */
  indexed: boolean
  /** sessions that are meant */
  sessions: number
  /** all sessions of that key space */
  present: number
  /** users with sessions, as the index has them, whatever sessions are meant; null: there is no index */
  users: number | null
  /** entries of the user's index whose session is gone; 0 unless one user is meant */
  leftovers: number
  /** keys of the database that belong to no session of that key space, and stay as they are */
  foreign: number
  /** epoch ms by the store's clock, when counting began */
  asOf: number
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

/**
 * Times of one session as its writer's clock had them, in epoch milliseconds; null where the field is missing or
 * unreadable.
 */
export interface SessionTimes {
  creationTime: number | null
  lastAccessedTime: number | null
  maxInactiveSeconds: number | null
  /** time to live as the store has it; null: the key never expires */
  ttlMs: number | null
}
