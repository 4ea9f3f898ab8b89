/** How a call that asks for a migration went. `refused`: whatever was tried, the service did not take it. */
export type MigrationAnswer =
  | { status: 'accepted' }
  /** `message`: what the answer says, on one line: `HTTP 403, 'Forbidden: Access is denied'` */
  | { status: 'refused'; httpStatus: number; message: string }

/** A project, or one of its trees. */
export interface MigrationItem {
  project: number
  tree: number | null
}

/** What the service is changed through by its own API. */
export interface ApiControl {
  /** base address, without credentials */
  readonly target: string
  /**
   * Asks for the migration of all trees of a project, or of one (SPEC.md 4.3, 4.4); the service works on it afterwards. Any number of
   * calls may be under way. A call that may have been taken is repeated once at most, where its answer was lost; one that was not, for
   * as long as the service may take to start again. Throws UNAUTHENTICATED, NOT_CONFIGURED (no API token), UNREACHABLE, TIMED_OUT (it
   * may have been taken), UNEXPECTED_ANSWER (what answers is not the service); what `signal` was aborted with.
   */
  migrateTrees(item: MigrationItem, options: { signal: AbortSignal }): Promise<MigrationAnswer>
}
