import type { Secret } from './secret.ts'

/**
 * The outcome of a call that asks for a migration. `message`: one line about it, such as `HTTP 403, 'Forbidden: Access
 * is denied'`.
 */
export type MigrationAnswer =
  | { status: 'accepted' }
  /** The call was not accepted; `httpStatus` 0: the service did not answer */
  | { status: 'refused'; httpStatus: number; message: string }
  /** It is unknown whether the call was accepted: the answer was lost or late, or came from a proxy (502, 504) */
  | { status: 'unknown'; httpStatus: number; message: string }

/** A project, or one of its trees. */
export interface MigrationItem {
  project: number
  tree: number | null
}

export interface MigrationCall {
  signal: AbortSignal
  /** Total time, in milliseconds, to wait for a service that is gone or accepts no calls for now */
  patienceMs: number
  /** Called before each repeat of a call that may have been accepted; false prevents the repeat */
  again: () => Promise<boolean>
  /** Called with true once the call may have been accepted, and with false once it is known that it was not */
  underway: (is: boolean) => void
  /** Receives what the call waits for */
  waiting: (message: string) => void
}

/** Changes the service through its own API. */
export interface ApiControl {
  /** Base address, without credentials */
  readonly target: string
  /**
   * Asks the service to migrate all trees of a project, or one (SPEC.md 4.3, 4.4); the service works on it afterwards.
   * Any number of calls may be under way. Repeats a call that was not accepted, while the patience lasts; one that may
   * have been, if `again` allows it. Throws what concerns every call: UNAUTHENTICATED, NOT_CONFIGURED (no API token),
   * UNREACHABLE (the service is gone and has not come back), EXHAUSTED (it asks for a longer wait than the patience
   * allows). Also throws the reason with which `signal` was aborted.
   */
  migrateTrees(item: MigrationItem, call: MigrationCall): Promise<MigrationAnswer>
}

/** This program's login at the service, for operators who call its API themselves. */
export interface ApiLogin {
  /** Base address, without credentials */
  readonly target: string
  /** Returns the token that this program sends with all calls; throws as `ApiSource.accessToken` does */
  bearer(): Promise<BearerToken>
}

export interface BearerToken {
  token: Secret
  /** Remaining lifetime in whole seconds; null: the service does not say */
  expiresInSeconds: number | null
  /** When it expires by this machine's clock, whatever the service's clock shows */
  expiresAt: Date | null
}
