import type { SessionSelection } from './sources.ts'

/**
 * Removes sessions. Harmless if they are gone; never touches a session that is not selected, or a key that is no
 * session's.
 */
export interface SessionsControl {
  /** host:port/database, without credentials */
  readonly target: string
  /**
   * Returns if keys of that key space may be removed, without removing one. Throws FORBIDDEN with the missing right,
   * REFUSED on a replica, UNAVAILABLE if the store accepts no writes at present.
   */
  assertRemovable(of: { namespace: string; indexed: boolean }): Promise<void>
  /**
   * Removes the sessions that the last census of the same selection counted, or counts them itself; then verifies that
   * they are gone. Throws as `assertRemovable`, UNREACHABLE, TIMED_OUT, INTERRUPTED; FAILED if some come back again and
   * again.
   */
  remove(selection: SessionSelection, options: RemovalOptions): Promise<Removal>
}

export interface RemovalOptions {
  /** True to empty the whole database at once, if it holds nothing but the selected sessions and the store allows it */
  flush: boolean
  /** Awaited between batches; `done` of `total` keys */
  onBatch: (done: number, total: number) => Promise<void>
  /** Awaited once all are removed, before verifying that they are gone */
  onRemoved: () => Promise<void>
  signal: AbortSignal
}

export interface Removal {
  /** Number of sessions that were counted */
  counted: number
  /** Number of these removed by this program; the others had ended before. Null: the database was emptied at once */
  removed: number | null
  /** Why the database was not emptied at once, if that was requested */
  notFlushed: string | null
}
