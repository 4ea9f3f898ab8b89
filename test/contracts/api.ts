import { expect, test } from 'vitest'
import type { Opened } from '../../src/core/endpoint.ts'
import type { ApiSource } from '../../src/core/sources.ts'
import { failureOf } from '../adapters/failure-of.ts'
import { lookThrough } from './look.ts'

export interface ApiSituation {
  /** right unless told otherwise */
  apiToken?: 'right' | 'wrong' | 'none'
  tokenLifeSeconds?: number
  health?: 'UP' | 'DOWN'
  /** null: a service without that method */
  migrationJobs?: readonly { id: number; status: string }[] | null
  /** null: a service without those lists */
  projects?: readonly { id: number; name: string; trees: readonly { id: number; name: string }[] }[] | null
}

/** What every API source keeps. */
export function apiContract(open: (situation: ApiSituation) => Promise<Opened<ApiSource>>): void {
  const look = lookThrough(open)

  const healths = [
    { health: 'UP', httpStatus: 200 },
    { health: 'DOWN', httpStatus: 503 },
  ] as const
  test.each(healths)('reads that health is $health', async ({ health, httpStatus }) => {
    await look({ health }, async (source) => {
      expect(source.target).toMatch(/^https?:\/\/[\w.:-]+[^/]$/)
      const answer = await source.health()
      expect(answer).toMatchObject({ httpStatus, status: health })
      expect(answer.durationMs).toBeGreaterThanOrEqual(0)
      return answer
    })
  })

  test('reads the clock', async () => {
    const { offsetMs, uncertaintyMs } = await look({}, async (source) => source.clock())
    expect(Math.abs(offsetMs)).toBeLessThanOrEqual(uncertaintyMs + 100)
    expect(uncertaintyMs).toBeLessThan(800)
  })

  test('exchanges the API token', async () => {
    const { issuedAt, expiresAt, expiresInSeconds, answeredAt } = await look(
      { tokenLifeSeconds: 57_600 },
      async (source) => source.accessToken(),
    )
    expect((expiresAt ?? 0) - (issuedAt ?? 0)).toBe(57_600)
    expect(expiresInSeconds === null || Math.abs(expiresInSeconds - 57_600) <= 1).toBe(true)
    expect(Math.abs((issuedAt ?? 0) - Date.now() / 1000)).toBeLessThan(5)
    expect(Math.abs((answeredAt ?? 0) - Date.now() / 1000)).toBeLessThan(5)
  })

  test('knows the user', async () => {
    expect(await look({}, async (source) => source.currentUser())).toMatchObject({ username: 'admin' })
  })

  test('a wrong API token is refused', async () => {
    const { source, close } = await open({ apiToken: 'wrong' })
    expect(await failureOf(source.accessToken())).toMatch(
      /^UNAUTHENTICATED POST \S+\/api\/uaa\/oauth\/token refused the API token/,
    )
    expect(await failureOf(source.currentUser())).toMatch(/^UNAUTHENTICATED /)
    await close()
  })

  test('without an API token its methods are not configured', async () => {
    const { source, close } = await open({ apiToken: 'none' })
    for (const method of ['accessToken', 'currentUser', 'projects'] as const) {
      expect(await failureOf(source[method]())).toMatch(/^NOT_CONFIGURED no `apiToken` is configured$/)
    }
    expect(await failureOf(source.migrationJobs({ status: null, atMost: 1 }))).toMatch(
      /^NOT_CONFIGURED no `apiToken` is configured$/,
    )
    expect(await failureOf(source.health())).toBe(null)
    await close()
  })

  test('measures small calls', async () => {
    const times = await look({}, async (source) => source.latencies())
    expect(times.length).toBeGreaterThanOrEqual(3)
    expect(times.every((time) => time >= 0 && time < 5000)).toBe(true)
  })

  test('lists migration jobs, newest first', async () => {
    const migrationJobs = [
      { id: 1, status: 'COMPLETED' },
      { id: 3, status: 'IN_PROGRESS' },
      { id: 2, status: 'FAILED' },
    ]
    const jobs = await look({ migrationJobs }, async (source) => source.migrationJobs({ status: null, atMost: 9 }))
    expect(jobs?.jobs.map(({ id, status }) => ({ id, status }))).toEqual([
      migrationJobs[1],
      migrationJobs[2],
      migrationJobs[0],
    ])
    expect(jobs?.jobs.every(({ createdAt }) => createdAt instanceof Date)).toBe(true)
  })

  test('lists the migration jobs in a state that are newer than one', async () => {
    const migrationJobs = Array.from({ length: 1300 }, (_, index) => ({
      id: index + 1,
      status: index % 2 === 0 ? 'IN_PROGRESS' : 'COMPLETED',
    }))
    const jobs = await look({ migrationJobs }, async (source) =>
      source.migrationJobs({ status: 'IN_PROGRESS', newerThan: 20, atMost: 10_000 }),
    )
    expect(jobs?.jobs.map(({ id }) => id)).toEqual(Array.from({ length: 640 }, (_, index) => 1299 - 2 * index))
    expect(
      await look({ migrationJobs }, async (source) =>
        source.migrationJobs({ status: 'IN_PROGRESS', newerThan: 1300, atMost: 10_000 }),
      ),
    ).toEqual({ complete: true, jobs: [] })
  })

  test('shows some of the migration jobs, and whether there are more', async () => {
    const migrationJobs = Array.from({ length: 1300 }, (_, index) => ({
      id: index + 1,
      status: index % 100 === 0 ? 'FAILED' : 'COMPLETED',
    }))
    const found = await look({ migrationJobs }, async (source) => ({
      failed: await source.migrationJobs({ status: 'FAILED', atMost: 1000 }),
      all: await source.migrationJobs({ status: null, atMost: 1300 }),
      some: await source.migrationJobs({ status: null, atMost: 250 }),
      none: await source.migrationJobs({ status: 'STOPPED', atMost: 5 }),
    }))
    const ids = (sample: (typeof found)['all']): object => ({
      complete: sample?.complete,
      ids: sample?.jobs.map(({ id }) => id),
    })
    const down = (length: number, step = 1): number[] =>
      Array.from({ length }, (_, index) => (step === 1 ? 1300 : 1201) - index * step)
    expect(ids(found.failed)).toEqual({ complete: true, ids: down(13, 100) })
    expect(ids(found.all)).toEqual({ complete: true, ids: down(1300) })
    expect(ids(found.some)).toEqual({ complete: false, ids: down(250) })
    expect(found.none).toEqual({ complete: true, jobs: [] })
  })

  test('a service without migration jobs has none to list', async () => {
    expect(
      await look({ migrationJobs: null }, async (source) => [
        await source.migrationJobs({ status: 'FAILED', newerThan: 0, atMost: 10_000 }),
        await source.migrationJobs({ status: null, atMost: 9 }),
      ]),
    ).toEqual([null, null])
  })

  const projects = [
    { id: 7, name: 'Billing', trees: [] },
    {
      id: 2,
      name: 'Web shop',
      trees: Array.from({ length: 1203 }, (_, index) => ({ id: 2000 - index, name: `tree ${index}` })),
    },
  ]

  test('lists projects and their trees, all of them, by id', async () => {
    const found = await look({ projects }, async (source) => ({
      projects: await source.projects(),
      trees: [await source.trees(7), await source.trees(2)],
    }))
    expect(found.projects).toEqual([
      { id: 2, name: 'Web shop' },
      { id: 7, name: 'Billing' },
    ])
    expect(found.trees[0]).toEqual([])
    expect(found.trees[1]).toEqual(projects[1]?.trees.toSorted((a, b) => a.id - b.id))
  })

  test('tells a project that is not there from a list that is not offered', async () => {
    const missing = look({ projects }, async (source) => source.trees(987_654))
    expect(await failureOf(missing)).toMatch(
      /^USAGE project 987654 does not exist at https?:\S+, or this API token's user cannot see it$/,
    )
    expect(await look({ projects: null }, async (source) => [await source.projects(), await source.trees(2)])).toEqual([
      null,
      null,
    ])
  })
}
