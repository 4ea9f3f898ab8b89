import { expect, test } from 'vitest'
import { awaitMigration } from '../../../src/actions/trees/await-migration.ts'
import { AdminError } from '../../../src/core/error.ts'
import type { ApiSource, MigrationJob } from '../../../src/core/sources.ts'
import { fakeApi, fakeDeployment, migrationJob, openFakes } from '../../fakes/index.ts'
import { workshopOf } from '../workshop.ts'

type Looks = readonly (readonly MigrationJob[] | null | AdminError)[]

const action = { kind: 'await-migration', counts: { newestJob: 7 } } as const
const working = (id: number): MigrationJob => migrationJob({ id, status: 'IN_PROGRESS' })

/** Waits while the looks at what is in work show these, the last of them from then on. */
async function waited(looks: Looks, failed: readonly MigrationJob[] = [], of: Parameters<typeof workshopOf>[1] = {}) {
  const asked: unknown[] = []
  const api: ApiSource = fakeApi({
    migrationJobsSince: (id, status) => {
      asked.push(id)
      return status === 'FAILED' ? failed : looks[Math.min(asked.length, looks.length) - 1]!
    },
  })
  const deployment = fakeDeployment()
  const results: string[] = []
  const workshop = workshopOf(deployment, { patienceMs: 300, result: (text) => void results.push(text), ...of })
  const error: unknown = await awaitMigration.perform(action, { ...workshop, open: openFakes({ api }) }).then(() => null, (thrown: unknown) => thrown)
  return { error, asked, results, shortfall: awaitMigration.shortfall!(action, deployment.notes) }
}

test('until two looks in a row find nothing in work', async () => {
  const { error, asked, shortfall } = await waited([[], [working(8)], [], []])
  expect([error, asked, shortfall]).toEqual([null, [7, 7, 7, 7, 7], null])
})

test('those that failed are told, the first few of many', async () => {
  const names = (count: number) => Array.from({ length: count }, (_, index) => migrationJob({ id: 8 + index, name: `tree ${index}`, status: 'FAILED' }))
  expect((await waited([[], []], names(1))).shortfall?.message).toBe('1 migration job failed: tree 0')
  expect((await waited([[], []], names(7))).shortfall?.message).toBe('7 migration jobs failed: tree 0, tree 1, tree 2, tree 3, tree 4 and 2 more')
})

test('a service that is away for a while is waited for', async () => {
  const away = new AdminError('UNREACHABLE', 'the service refused the connection')
  expect((await waited([[working(8)], away, away, [], []])).error).toBeNull()
})

test('what does not end within the patience can be gone on with', async () => {
  expect((await waited([[working(9), working(8)]])).error).toMatchObject({ code: 'INTERRUPTED', message: '2 migration jobs were begun, and not all of them are over' })
})

test('interrupted, it says that the service goes on', async () => {
  const signal = AbortSignal.abort(new AdminError('INTERRUPTED', 'interrupted by SIGINT'))
  expect((await waited([[working(8)]], [], { signal })).error).toMatchObject({ code: 'INTERRUPTED', message: 'interrupted while waiting for the migration jobs: the service goes on with them' })
})

test('a service that lists them no more is not waited for', async () => {
  const { error, results } = await waited([null])
  expect([error, results]).toEqual([null, ['the service does not list its migration jobs any more: whether they are done is not known']])
})
