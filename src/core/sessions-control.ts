import type { SessionSelection } from './sources.ts'

/**
 * Removes sessions. Harmless where they are gone; a session that is not meant, and a key that is none, is never
 * touched.
 */
export interface SessionsControl {
  /** host:port/database, without credentials */
  readonly target: string
  /**
   * Returns where keys of that key space may be removed, without removing one. Throws FORBIDDEN with the right that is
   * missing, REFUSED on a replica, UNAVAILABLE where the store takes no writes at present.
   */
  assertRemovable(of: { namespace: string; indexed: boolean }): Promise<void>
  /**
   * Removes the sessions that the last census of the same selection counted, else counts by itself; then sees that they
   * are gone. Throws as `assertRemovable`, UNREACHABLE, TIMED_OUT, INTERRUPTED; FAILED where some come back again and
   * again.
   */
  remove(selection: SessionSelection, options: RemovalOptions): Promise<Removal>
}

export interface RemovalOptions {
  /**
   * empties the whole database at once where it holds nothing but the sessions that are meant, and the store lets us
   */
  flush: boolean
  /** awaited between batches; `done` of `total` keys */
  onBatch: (done: number, total: number) => Promise<void>
  /** awaited once all are removed, before it is looked whether they are gone */
  onRemoved: () => Promise<void>
  signal: AbortSignal
}

export interface Removal {
  /** sessions that were counted */
  counted: number
  /** of these, by us; the others had ended before that. Null: the database was emptied at once */
  removed: number | null
  /** why the database was not emptied at once, where that was wanted */
  notFlushed: string | null
}
