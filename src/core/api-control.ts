/**
 * How a call that asks for a migration went; `message`: what is said of it, on one line: `HTTP 403, 'Forbidden: Access
 * is denied'`.
 */
export type MigrationAnswer =
  | { status: 'accepted' }
  /** it was not taken; `httpStatus` 0: there was no answer of the service */
  | { status: 'refused'; httpStatus: number; message: string }
  /**
   * its answer was lost or did not come in time, or a proxy gave one in its place (502, 504): whether it was taken is
   * not known
   */
  | { status: 'unknown'; httpStatus: number; message: string }

/** A project, or one of its trees. */
export interface MigrationItem {
  project: number
  tree: number | null
}

export interface MigrationCall {
  signal: AbortSignal
  /** for how long in all a service that has gone away, or wants no calls for now, is waited for, in milliseconds */
  patienceMs: number
  /** asked before the call is made again although it may have been taken, each time: false leaves it at that */
  again: () => Promise<boolean>
  /** whether the call may have been taken, as soon as that is so, and as soon as it is known not to be */
  underway: (is: boolean) => void
  /** is told what is waited for */
  waiting: (message: string) => void
}

/** What the service is changed through by its own API. */
export interface ApiControl {
  /** base address, without credentials */
  readonly target: string
  /**
   * Asks for the migration of all trees of a project, or of one (SPEC.md 4.3, 4.4); the service works on it afterwards.
   * Any number of calls may be under way. One that was not taken is made again as far as the patience goes; one that
   * may have been, where `again` lets it. Throws what concerns every call: UNAUTHENTICATED, NOT_CONFIGURED (no API
   * token), UNREACHABLE (the service has gone away and has not come back), EXHAUSTED (it asks to wait for longer than
   * the patience lasts); what `signal` was aborted with.
   */
  migrateTrees(item: MigrationItem, call: MigrationCall): Promise<MigrationAnswer>
}
