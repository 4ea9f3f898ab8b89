import type { ClockReading } from './clock.ts'

export interface ApiSource {
  /** base address, without credentials */
  readonly target: string
  /** `/api/management/health`, with the time the answer took in milliseconds */
  health(): Promise<{ httpStatus: number; status: string | null; durationMs: number }>
  /**
   * Whether it is the service that answers, where its health is not shown; `shown`: by what, `POST /api/uaa/oauth/token
   * exchanges the API token`, or why not. Throws EXHAUSTED.
   */
  recognized(): Promise<{ isService: boolean; shown: string }>
  clock(): Promise<ClockReading>
  /**
   * exchanges the API token (SPEC.md 4.1); throws UNAUTHENTICATED where it is refused, NOT_CONFIGURED where there is
   * none
   */
  accessToken(): Promise<AccessToken>
  currentUser(): Promise<Readonly<Record<string, unknown>>>
  /** times of a few small calls that the service itself answered, in milliseconds, one after the other */
  latencies(): Promise<readonly number[]>
  /**
   * the newest that are wished for, newest first; null where the service does not offer the method. Throws FORBIDDEN
   */
  migrationJobs(wish: MigrationJobWish): Promise<{ jobs: readonly MigrationJob[]; complete: boolean } | null>
  /** every project that the user sees, by id; null where the service does not offer the method */
  projects(): Promise<readonly NamedItem[] | null>
  /**
   * a project's trees, by id; null where the service does not offer the method. Throws USAGE where there is no such
   * project
   */
  trees(project: number): Promise<readonly NamedItem[] | null>
}

/** A project, or a tree. */
export interface NamedItem {
  id: number
  /** '' where the service shows none */
  name: string
}

/** What the exchange said about the token; the token itself stays inside the adapter. Times in epoch seconds. */
export interface AccessToken {
  issuedAt: number | null
  expiresAt: number | null
  expiresInSeconds: number | null
  /** by the Date of the answer that brought it: the service's clock, or that of a proxy before it */
  answeredAt: number | null
}

export interface MigrationJobWish {
  /** null: in any state */
  status: string | null
  /** those with a higher number alone */
  newerThan?: number
  /** the answer is not `complete` where older ones were left out for it */
  atMost: number
}

export interface MigrationJob {
  id: number
  name: string
  status: string
  createdAt: Date | null
  modifiedAt: Date | null
}
