import { describe, expect, test } from 'vitest'
import { AdminError } from '../../../src/core/error.ts'
import type { ApiSource } from '../../../src/core/sources.ts'
import { makePlan } from '../../../src/engine/plan.ts'
import { migrateTrees } from '../../../src/repairs/migrate-trees.ts'
import type { MigrateOptions } from '../../../src/repairs/migrate-trees/chosen.ts'
import { fakeApi, fakeService, jobsOf, migrationJob, noProject, openFakes, unreachable } from '../../fakes/index.ts'
import type { Answers } from '../../fakes/index.ts'

const deployment = {
  name: 'prod',
  platform: 'host',
  vendor: { prefix: 'VENDOR', package: 'VENDOR_PACKAGE' },
  timeZone: 'UTC',
} as const
const shop = { id: 1, name: 'Web shop' }
const billing = { id: 2, name: 'Billing' }
const trees = new Map([
  [
    1,
    [
      { id: 11, name: 'Features' },
      { id: 12, name: 'Suites' },
    ],
  ],
  [2, [{ id: 21, name: 'Features' }]],
])
const listing: Answers<ApiSource> = {
  projects: [shop, billing],
  trees: (project) => trees.get(project) ?? noProject(project),
}

const image = (build: string | null): ReturnType<typeof fakeService> =>
  fakeService({ image: { name: 'testops', tag: build, build, declaredIn: '.env' } })

async function planned(
  options: Partial<MigrateOptions>,
  api: Answers<ApiSource> = listing,
  build: string | null = '524u02',
) {
  const open = openFakes({ api: fakeApi(api), service: build === null ? unreachable('service') : image(build) })
  const all = { items: [], allProjects: false, allTrees: false, concurrency: 4, wait: false, ...options }
  return makePlan(migrateTrees, open, deployment, all)
}

const project = (id: number) => ({ project: id, tree: null })

test('what is named is shown by name, with the version, and asked for in that order', async () => {
  const plan = await planned({ items: [project(2), { project: 1, tree: 12 }] })
  expect(plan).toMatchObject({
    target: { service: 'https://testops.example.org, build 524u02' },
    impact: { projects: 2, trees: 2, calls: 2 },
    evidence: ['project 2 Billing: tree 21 Features', 'project 1 Web shop: tree 12 Suites'],
    notes: [],
    risks: [],
    verifiedBy: ['trees/migrated'],
  })
  expect(plan.steps).toEqual([
    {
      title: 'ask the service to reload all trees of 1 project and 1 tree, 4 calls at a time',
      action: {
        kind: 'migrate-trees',
        api: 'https://testops.example.org',
        items: [project(2), { project: 1, tree: 12 }],
        concurrency: 4,
      },
      interrupts: true,
      loses: expect.stringMatching(/^the trees as they are now\. The service clears and reloads them/) as string,
    },
  ])
})

describe('each is asked for once:', () => {
  test('ten thousand ids twice over', async () => {
    const items = Array.from({ length: 20_000 }, (_, index) => ({ project: 1, tree: (index % 10_000) + 1 }))
    const { impact, notes } = await planned({ items })
    expect(impact).toEqual({ projects: 1, trees: 10_000, calls: 10_000 })
    expect(notes[0]).toBe('10,000 duplicates ignored: each project or tree is requested only once')
  })

  test('a tree of a project that is asked for whole', async () => {
    const { steps, notes } = await planned({ items: [{ project: 1, tree: 12 }, project(1), { project: 2, tree: 21 }] })
    expect(steps[0]?.action).toMatchObject({ items: [project(1), { project: 2, tree: 21 }] })
    expect(notes).toEqual(['1 tree left out: the request already covers all trees of its project'])
  })
})

describe('all of them:', () => {
  test('--all-projects is one call a project', async () => {
    const { steps, impact } = await planned({ allProjects: true })
    expect([steps[0]?.action, impact]).toMatchObject([
      { items: [project(1), project(2)] },
      { projects: 2, trees: 3, calls: 2 },
    ])
  })

  test('--all-trees is one call a tree, of all projects or of those that are named', async () => {
    const all = [
      { project: 1, tree: 11 },
      { project: 1, tree: 12 },
      { project: 2, tree: 21 },
    ]
    expect((await planned({ allTrees: true })).steps[0]?.action).toMatchObject({ items: all })
    expect((await planned({ allTrees: true, allProjects: true })).steps[0]?.action).toMatchObject({ items: all })
    const some = await planned({ allTrees: true, items: [project(2), { project: 1, tree: 11 }] })
    expect(some.steps[0]?.action).toMatchObject({
      items: [
        { project: 2, tree: 21 },
        { project: 1, tree: 11 },
      ],
    })
    await expect(planned({ allTrees: true, items: [project(99)] })).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringMatching(/^project 99 does not exist at /) as string,
    })
  })

  test('no project to be seen is nothing to do', async () => {
    const { steps, impact, notes } = await planned({ allProjects: true }, { projects: [] })
    expect({ steps, impact, notes }).toEqual({
      steps: [],
      impact: {},
      notes: ["the service lists no project for this API token's user"],
    })
  })

  test.each([
    {
      options: { allProjects: true },
      api: { projects: null },
      says: /does not list its projects. Name the projects yourself$/,
      next: 'testops-admin migrate-trees -d {deployment} --project ID',
    },
    {
      options: { allTrees: true },
      api: { projects: null },
      says: /does not list its projects/,
      next: 'testops-admin migrate-trees -d {deployment} --project ID',
    },
    {
      options: { allTrees: true },
      api: { projects: [shop], trees: null },
      says: /does not list its trees/,
      next:
        'testops-admin migrate-trees -d {deployment} --project 1   ' +
        '# requests all trees of this project in one call',
    },
  ])('a service that does not list them: $options $api', async ({ options, api, says, next }) => {
    const error: unknown = await planned(options, api as Answers<ApiSource>).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringMatching(says) as string })
    expect((error as AdminError).suggestions[0]).toBe(next)
  })
})

test.each<[Partial<MigrateOptions>, RegExp]>([
  [{}, /^no projects or trees were given. Name at least one, or request all of them$/],
  [{ allProjects: true, items: [project(1)] }, /cannot be combined with named projects or trees$/],
  [
    { allTrees: true, items: [{ project: 1, tree: 11 }] },
    /^--all-trees can be combined with projects, but only trees were given$/,
  ],
])('what cannot be meant is told: %j', async (options, message) => {
  await expect(planned(options)).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringMatching(message) as string,
  })
})

test('a token that is refused is told before there is a plan', async () => {
  const refused = new AdminError('UNAUTHENTICATED', 'the API token was refused')
  await expect(planned({ items: [project(1)] }, { accessToken: refused })).rejects.toBe(refused)
})

describe('what cannot be named is told by its number:', () => {
  test('of a service that lists nothing', async () => {
    const { evidence, notes, impact } = await planned(
      { items: [project(1), { project: 2, tree: 21 }] },
      { projects: null },
    )
    expect({ evidence, notes, impact }).toEqual({
      evidence: ['project 1: all trees', 'project 2: tree 21'],
      notes: ['the service does not list its projects for this user. The plan shows project numbers instead of names'],
      impact: { projects: 2, calls: 2 },
    })
  })

  test('what this user is not shown', async () => {
    const { evidence, notes } = await planned({ items: [project(99), { project: 1, tree: 77 }] })
    expect(evidence).toEqual(['project 99: all trees', 'project 1 Web shop: tree 77'])
    expect(notes).toEqual([
      "the service does not list project 99, tree 1/77 for this API token's user, so the service may reject " +
        'the calls for these items',
    ])
  })

  test('the trees of more projects than are worth as many questions', async () => {
    const many = Array.from({ length: 51 }, (_, index) => ({ id: index + 1, name: `P${index + 1}` }))
    let questions = 0
    const api: Answers<ApiSource> = { projects: many, trees: () => ((questions += 1), []) }
    const { evidence, impact } = await planned({ allProjects: true }, api)
    expect({ questions, impact, lines: evidence.length, last: evidence.at(-1) }).toEqual({
      questions: 0,
      impact: { projects: 51, calls: 51 },
      lines: 21,
      last: 'and 31 more projects',
    })
  })
})

test.each([
  { build: '511u01', notes: [] },
  { build: '5.24', notes: [] },
  {
    build: '525u01',
    notes: ['WARNING: build 525u01 does not move trees to the new structure. Only versions 5.11 to 5.24 do so'],
  },
  {
    build: '510u09',
    notes: ['WARNING: build 510u09 does not move trees to the new structure. Only versions 5.11 to 5.24 do so'],
  },
  {
    build: null,
    notes: ['WARNING: the build of the service is unknown. This repair is for versions 5.11 to 5.24'],
  },
])('the version $build', async ({ build, notes }) => {
  const plan = await planned({ items: [project(1)] }, listing, build)
  expect([plan.notes, plan.target, plan.verifiedBy]).toEqual([
    notes,
    { service: `https://testops.example.org, ${build === null ? 'build unknown' : `build ${build}`}` },
    build === null ? [] : ['trees/migrated'],
  ])
})

describe('--wait', () => {
  test('waits for the jobs that are newer than those of now', async () => {
    const jobs = [migrationJob({ id: 7 }), migrationJob({ id: 5 })]
    const { steps } = await planned({ items: [project(1)], wait: true }, { ...listing, migrationJobs: jobsOf(jobs) })
    expect(steps[1]?.action).toEqual({ kind: 'await-migration', counts: { newestJob: 7 } })
    const none = await planned({ items: [project(1)], wait: true }, { ...listing, migrationJobs: jobsOf([]) })
    expect(none.steps[1]?.action).toEqual({ kind: 'await-migration', counts: { newestJob: 0 } })
  })

  test('is told to be idle where the service lists no jobs', async () => {
    const { steps, notes } = await planned({ items: [project(1)], wait: true }, { ...listing, migrationJobs: null })
    expect([steps.length, notes]).toEqual([
      1,
      ['the service does not list its migration jobs, so `--wait` has nothing to wait for'],
    ])
  })

  test(
    'is refused before anything is asked for where this user may not see the jobs; ' +
      'without it they are not asked for',
    async () => {
      const forbidden = new AdminError(
        'FORBIDDEN',
        "GET /api/migration/job is not allowed for this API token's user (HTTP 403)",
        ['curl'],
      )
      const error: unknown = await planned(
        { items: [project(1)], wait: true },
        { ...listing, migrationJobs: forbidden },
      ).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({
        code: 'FORBIDDEN',
        message:
          `cannot list the service's migration jobs, which --wait needs: ${forbidden.message}. No migration was ` +
          'requested',
        suggestions: [
          'the same command without --wait   # requests the migration, and does not wait for the jobs',
          'curl',
        ],
      })
      expect((await planned({ items: [project(1)] }, { ...listing, migrationJobs: forbidden })).steps).toHaveLength(1)
    },
  )
})
