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
      clock: clockAhead(0, 510),
      accessToken: { issuedAt, expiresAt: issuedAt + 3600, expiresInSeconds: 3600 },
      currentUser: { id: 1, username: 'admin' },
      latencies: [11, 9, 10],
      migrationJobs: [],
      migrationJobsSince: [],
      projects: [{ id: 1, name: 'Demo' }],
      trees: (project) => (project === 1 ? [{ id: 1, name: 'Suites' }] : noProject(project)),
    },
    ['health', 'clock', 'accessToken', 'currentUser', 'latencies', 'migrationJobs', 'migrationJobsSince', 'projects', 'trees'],
    answers,
  )
}

/** What the API says of a project that it does not have. */
export function noProject(id: number): AdminError {
  return new AdminError('USAGE', `there is no project ${id} at https://testops.example.org, or this API token's user does not see it`)
}

/** A migration that came to its end, unless told otherwise. */
export function migrationJob(of: Partial<MigrationJob> = {}): MigrationJob {
  return { id: 1, name: 'tree migration', status: 'COMPLETED', createdAt: ago(7_200_000), modifiedAt: ago(7_000_000), ...of }
}
