import { expect, test } from 'vitest'
import type { Sql } from '../../../src/lab/access/database.ts'
import { removeSeededTrees, seedTrees } from '../../../src/lab/seed-trees.ts'
import { admin, caller } from './support/client.ts'
import { deployment, sql, startService, until } from './support/deployment.ts'

interface Page {
  content: { id: number }[]
  totalElements: number
  last: boolean
}

const trees = 600
const concurrency = 8

test('many trees are listed in pages and moved one by one, each once, and are gone afterwards', async () => {
  const on = await deployment()
  const { url, log } = await startService(on.settings)
  const call = await caller(url, admin)
  const count = async (what: string): Promise<number> =>
    (await sql<{ count: number }>(on, `SELECT count(*)::int AS count FROM ${what}`))[0]!.count
  await until('the first migration', async () => (await count('tree WHERE NOT migrated')) === 0)
  const before = await count('async_job')

  const query: Sql = (text, values) => on.database.query(text, values)
  const seeded = await seedTrees(query, { projects: 2, trees })
  expect(seeded).toEqual({
    projects: { from: 1_000_001, to: 1_000_002 },
    trees: { from: 1_000_001, to: 1_000_000 + trees },
  })
  const listed: { project: number; tree: number }[] = []
  for (let project = seeded.projects.from; project <= seeded.projects.to; project += 1) {
    for (let number = 0, last = false; !last; number += 1) {
      const page = (await (
        await call(`/api/tree?projectId=${project}&page=${number}&size=128&sort=id,ASC`)
      ).json()) as Page
      expect(page.totalElements).toBe(trees / 2)
      listed.push(...page.content.map(({ id }) => ({ project, tree: id })))
      last = page.last
    }
  }
  expect(new Set(listed.map(({ tree }) => tree)).size).toBe(trees)

  const left = listed.slice()
  const caught: number[] = []
  const work = async (): Promise<void> => {
    for (let next = left.pop(); next; next = left.pop()) {
      const { status } = await call(`/api/project/${next.project}/test-case/tree/${next.tree}/migration`, 'POST')
      if (status !== 202) caught.push(status)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  expect(caught).toEqual([])
  expect(await count('async_job')).toBe(before + trees)
  await until('the jobs', async () => (await count("async_job WHERE status = 'IN_PROGRESS'")) === 0)
  expect(await count("async_job WHERE status <> 'COMPLETED'")).toBe(0)
  expect(await count('tree WHERE NOT migrated')).toBe(0)
  expect(await count('tree_node WHERE tree_id > 1000000')).toBe(trees * 3 * 2)
  expect(log()).not.toMatch(/ERROR|WARN/)

  await removeSeededTrees(query)
  expect([await count('tree'), await count('project')]).toEqual([4, 3])
})

test('a whole project is taken in one call, however many trees it has', async () => {
  const on = await deployment()
  const { url } = await startService(on.settings)
  const call = await caller(url, admin)
  const { projects } = await seedTrees((text, values) => on.database.query(text, values), { projects: 1, trees })
  expect((await call(`/api/project/${projects.from}/test-case/tree/migration`, 'POST')).status).toBe(202)
  const { totalElements } = (await (await call('/api/migration/job?size=1')).json()) as Page
  expect(totalElements).toBeGreaterThanOrEqual(trees)
})
