import { expect, test } from 'vitest'
import { awaitMigration } from '../../../src/actions/trees/await-migration.ts'
import { AdminError } from '../../../src/core/error.ts'
import type { ApiSource, MigrationJob } from '../../../src/core/sources.ts'
import { fakeApi, fakeDeployment, migrationJob, openFakes } from '../../fakes/index.ts'
import { workshopOf } from '../workshop.ts'

type Looks = readonly (readonly MigrationJob[] | null | AdminError)[]

const action = { kind: 'await-migration', counts: { newestJob: 7 } } as const
const working = (id: number): MigrationJob => migrationJob({ id, status: 'IN_PROGRESS' })

/**
 * Waits while the looks at what is in work show these, the last of them from then on; `over`: what has come to an end
 * by the last look.
 */
async function waited(looks: Looks, over: readonly MigrationJob[] = [], of: Parameters<typeof workshopOf>[1] = {}) {
  const asked: unknown[] = []
  const api: ApiSource = fakeApi({
    migrationJobs: ({ newerThan, status }) => {
      asked.push(newerThan)
      const look = looks[Math.min(asked.length, looks.length) - 1]!
      if (look === null || look instanceof AdminError) return look
      return {
        complete: true,
        jobs: status === null ? [...look, ...over] : look.filter((job) => job.status === status),
      }
    },
  })
  const deployment = fakeDeployment()
  const workshop = workshopOf(deployment, { patienceMs: 300, ...of })
  const error: unknown = await awaitMigration.perform(action, { ...workshop, open: openFakes({ api }) }).then(
    () => null,
    (thrown: unknown) => thrown,
  )
  return { error, asked, shortfall: awaitMigration.shortfall!(action, deployment.notes) }
}

test('until two looks in a row find nothing in work', async () => {
  const { error, asked, shortfall } = await waited([[], [working(8)], [], []])
  expect([error, asked, shortfall]).toEqual([null, [7, 7, 7, 7], null])
})

test('those that did not come to a good end are told, each by its end, the first few of many', async () => {
  const jobs = (status: string, count: number) =>
    Array.from({ length: count }, (_, index) => migrationJob({ id: 8 + index, name: `tree ${index}`, status }))
  expect((await waited([[], []], jobs('COMPLETED', 9))).shortfall).toBe(null)
  expect((await waited([[], []], jobs('FAILED', 1))).shortfall?.message).toBe('1 migration job failed: tree 0')
  expect((await waited([[], []], jobs('FAILED', 7))).shortfall?.message).toBe(
    '7 migration jobs failed: tree 0; tree 1; tree 2; tree 3; tree 4 and 2 more',
  )
  const mixed = [...jobs('STOPPED', 1), ...jobs('COMPLETED', 3), ...jobs('CANCELLED', 2), ...jobs('FAILED', 1)]
  expect((await waited([[], []], mixed)).shortfall?.message).toBe(
    '1 migration job failed: tree 0; 1 migration job was stopped: tree 0; 2 migration jobs were cancelled: ' +
      'tree 0; tree 1',
  )
})

test('what to migrate again is named where the names of the jobs say it', async () => {
  const judge = 'testops-admin doctor -d {deployment} --only trees/migrated'
  const undone = (name: string) => waited([[], []], [migrationJob({ id: 8, name, status: 'STOPPED' })])
  expect((await undone('tree migration')).shortfall?.suggestions).toEqual([judge])
  expect((await undone('tree migration: project 3, tree 12')).shortfall?.suggestions).toEqual([
    judge,
    'testops-admin migrate-trees -d {deployment} --tree 3/12 --wait   # run this once the cause of the problem is gone',
  ])
})

test('a state that is not documented is no end', async () => {
  const queued = migrationJob({ id: 9, status: 'QUEUED' })
  const { error } = await waited([[queued]])
  expect(error).toMatchObject({
    code: 'INTERRUPTED',
    message: expect.stringMatching(
      /^1 migration job \(in an undocumented state: QUEUED\) is not finished after/,
    ) as string,
  })
  expect((await waited([[queued], [queued], [queued], [], []])).error).toBe(null)
})

test('a service that is away for a while is waited for', async () => {
  const away = new AdminError('UNREACHABLE', 'the service refused the connection')
  expect((await waited([[working(8)], away, away, [], []])).error).toBeNull()
})

test('what does not end within the patience can be gone on with', async () => {
  const { error } = await waited([[working(9), working(8)]], [], { patienceMs: 1000 })
  expect(error).toMatchObject({
    code: 'INTERRUPTED',
    message:
      '2 migration jobs are not finished after 1 s. The service accepted the calls, and continues unfinished jobs in ' +
      'the background',
  })
})

test('interrupted, it says that the service goes on', async () => {
  const signal = AbortSignal.abort(new AdminError('INTERRUPTED', 'interrupted by SIGINT'))
  expect((await waited([[working(8)]], [], { signal })).error).toMatchObject({
    code: 'INTERRUPTED',
    message: 'interrupted while waiting for the migration jobs: these jobs keep running in the service',
  })
})

test.each([
  { what: 'lists them no more', look: null, says: 'the service no longer lists its migration jobs' },
  {
    what: 'shows them to this user no more',
    look: new AdminError('FORBIDDEN', 'HTTP 403'),
    says: "the service does not show its migration jobs to this API token's user",
  },
])('a service that $what is not waited for, and that is no success', async ({ look, says }) => {
  expect((await waited([[working(8)], look])).error).toMatchObject({
    code: 'INTERRUPTED',
    message:
      `${says}, so testops-admin cannot tell whether the jobs have finished. The service accepted the calls, and ` +
      'continues unfinished jobs in the background',
    suggestions: ['testops-admin doctor -d {deployment} --only trees/migrated'],
  })
})
