import { AdminError } from '../../src/core/error.ts'
import type { ApiSource, MigrationJob } from '../../src/core/sources.ts'
import { ago, clockAhead, fake } from './fake.ts'
import type { Answers } from './fake.ts'

/** A healthy API whose tokens live for an hour, unless told otherwise. */
export function fakeApi(answers: Answers<ApiSource> = {}): ApiSource {
  const issuedAt = Math.floor(Date.now() / 1000)
  return fake<ApiSource>(
    {
      target: 'https://testops.example.org',
      health: { httpStatus: 200, status: 'UP', durationMs: 12 },
      recognized: { isService: true, shown: 'POST /api/uaa/oauth/token exchanges the API token' },
      clock: clockAhead(0, 510),
      accessToken: { issuedAt, expiresAt: issuedAt + 3600, expiresInSeconds: 3600, answeredAt: issuedAt },
      currentUser: { id: 1, username: 'admin' },
      latencies: [11, 9, 10],
      migrationJobs: { complete: true, jobs: [] },
      projects: [{ id: 1, name: 'Demo' }],
      trees: (project) => (project === 1 ? [{ id: 1, name: 'Suites' }] : noProject(project)),
    },
    ['health', 'recognized', 'clock', 'accessToken', 'currentUser', 'latencies', 'migrationJobs', 'projects', 'trees'],
    answers,
  )
}

/** Returns the API's error for a project that does not exist. */
export function noProject(id: number): AdminError {
  return new AdminError(
    'USAGE',
    `project ${id} does not exist at https://testops.example.org, or this API token's user cannot see it`,
  )
}

/** Returns a `migrationJobs` that lists these jobs; null: the API lists none. */
export function jobsOf(jobs: readonly MigrationJob[] | null): ApiSource['migrationJobs'] {
  return async ({ status, newerThan = -1, atMost }) => {
    const found = jobs
      ?.filter((job) => (status === null || job.status === status) && job.id > newerThan)
      .sort((a, b) => b.id - a.id)
    return found ? { complete: found.length <= atMost, jobs: found.slice(0, atMost) } : null
  }
}

/** A completed migration, unless told otherwise. */
export function migrationJob(of: Partial<MigrationJob> = {}): MigrationJob {
  return {
    id: 1,
    name: 'tree migration',
    status: 'COMPLETED',
    createdAt: ago(7_200_000),
    modifiedAt: ago(7_000_000),
    ...of,
  }
}
