import type { ClockReading } from './clock.ts'

export interface ApiSource {
  /** base address, without credentials */
  readonly target: string
  /** `/api/management/health`, with the time the answer took in milliseconds */
  health(): Promise<{ httpStatus: number; status: string | null; durationMs: number }>
  clock(): Promise<ClockReading>
  /** exchanges the API token (SPEC.md 4.1); throws UNAUTHENTICATED where it is refused, NOT_CONFIGURED where there is none */
  accessToken(): Promise<AccessToken>
  currentUser(): Promise<Readonly<Record<string, unknown>>>
  /** times of a few small calls in milliseconds, one after the other */
  latencies(): Promise<readonly number[]>
  /** migration jobs, newest first; null where the service does not offer the method */
  migrationJobs(): Promise<readonly MigrationJob[] | null>
  /** those in that state that are newer than the one of that number, newest first; null where the service does not offer the method */
  migrationJobsSince(id: number, status: string): Promise<readonly MigrationJob[] | null>
  /** every project that the user sees, by id; null where the service does not offer the method */
  projects(): Promise<readonly NamedItem[] | null>
  /** a project's trees, by id; null where the service does not offer the method. Throws USAGE where there is no such project */
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
}

export interface MigrationJob {
  id: number
  name: string
  status: string
  createdAt: Date | null
  modifiedAt: Date | null
}
