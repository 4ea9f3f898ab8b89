import type { ClockReading } from './clock.ts'

export interface ApiSource {
  /** Base address, without credentials */
  readonly target: string
  /** Asks `/api/management/health`, and returns how long the answer took in milliseconds */
  health(): Promise<{ httpStatus: number; status: string | null; durationMs: number }>
  /**
   * Returns whether the service is what answers, if its health is not shown. `shown`: what shows it, `POST
   * /api/uaa/oauth/token exchanges the API token`, or why not. Throws EXHAUSTED.
   */
  recognized(): Promise<{ isService: boolean; shown: string }>
  clock(): Promise<ClockReading>
  /**
   * Exchanges the API token (SPEC.md 4.1); throws UNAUTHENTICATED if it is rejected, NOT_CONFIGURED if there is none
   */
  accessToken(): Promise<AccessToken>
  currentUser(): Promise<Readonly<Record<string, unknown>>>
  /** Returns the times in milliseconds of a few small successive calls that the service itself answered */
  latencies(): Promise<readonly number[]>
  /**
   * Returns the newest jobs that match, newest first; null if the service does not offer the method. Throws FORBIDDEN
   */
  migrationJobs(wish: MigrationJobWish): Promise<{ jobs: readonly MigrationJob[]; complete: boolean } | null>
  /** Returns every project that the user sees, by id; null if the service does not offer the method */
  projects(): Promise<readonly NamedItem[] | null>
  /**
   * Returns a project's trees, by id; null if the service does not offer the method. Throws USAGE if there is no such
   * project
   */
  trees(project: number): Promise<readonly NamedItem[] | null>
}

/** A project, or a tree. */
export interface NamedItem {
  id: number
  /** '' if the service shows none */
  name: string
}

/** What the exchange said about the token; the token itself stays inside the adapter. Times in epoch seconds. */
export interface AccessToken {
  issuedAt: number | null
  expiresAt: number | null
  expiresInSeconds: number | null
  /** By the Date of the answer that brought it: the service's clock, or that of a proxy before it */
  answeredAt: number | null
}

export interface MigrationJobWish {
  /** Null: jobs in any state */
  status: string | null
  /** Only jobs with a higher number */
  newerThan?: number
  /** Maximum number of jobs; the answer is not `complete` if older ones were left out for it */
  atMost: number
}

export interface MigrationJob {
  id: number
  name: string
  status: string
  createdAt: Date | null
  modifiedAt: Date | null
}
