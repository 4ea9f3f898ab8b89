import { describe, expect, test } from 'vitest'
import { migrateTrees } from '../../../src/actions/trees/migrate-trees.ts'
import type { ActionOf } from '../../../src/core/action.ts'
import type { MigrationAnswer, MigrationItem } from '../../../src/core/api-control.ts'
import { AdminError } from '../../../src/core/error.ts'
import type { Moving } from '../../../src/core/controls.ts'
import { fakeApiControl, fakeDeployment, refusedMigration } from '../../fakes/index.ts'
import { workshopOf } from '../workshop.ts'

type Answer = Parameters<typeof fakeApiControl>[0]

const items = (count: number): MigrationItem[] =>
  Array.from({ length: count }, (_, index) => ({ project: 1, tree: index + 1 }))
const actionOf = (count: number, concurrency = 1): ActionOf<'migrate-trees'> => ({
  kind: 'migrate-trees',
  api: 'https://testops.example.org',
  items: items(count),
  concurrency,
})

/** Performs it on a service that answers so; gives what was asked for, what came of it, and what was thrown. */
async function performed(answer: Answer, action: ActionOf<'migrate-trees'>, of: Parameters<typeof workshopOf>[1] = {}) {
  const deployment = fakeDeployment({ api: fakeApiControl(answer) })
  const error: unknown = await migrateTrees.perform(action, workshopOf(deployment, of)).then(
    () => null,
    (thrown: unknown) => thrown,
  )
  return {
    deployment,
    asked: deployment.api.asked.map(({ tree }) => tree),
    error,
    account: migrateTrees.account!(action, deployment.notes),
  }
}

const accepted: MigrationAnswer = { status: 'accepted' }
const failsAt =
  (trees: readonly number[], refused: MigrationAnswer | AdminError) =>
  ({ tree }: MigrationItem) =>
    trees.includes(tree!) ? refused : accepted

test('no more calls are under way than was said, and as many', async () => {
  let underWay = 0
  let most = 0
  const { asked } = await performed(
    async () => {
      most = Math.max(most, (underWay += 1))
      await new Promise((resolve) => setTimeout(resolve, 2))
      underWay -= 1
      return accepted
    },
    actionOf(40, 6),
  )
  expect([most, [...asked].sort((a, b) => a! - b!)]).toEqual([6, items(40).map(({ tree }) => tree)])
})

test('it tells how far it is', async () => {
  const told: Moving[] = []
  await performed(() => accepted, actionOf(3), { moving: (amount) => void told.push(amount) })
  expect(told.at(-1)).toEqual({ done: 3, total: 3, unit: 'calls' })
  const deployment = fakeDeployment()
  deployment.notes.push(JSON.stringify({ event: 'answered', accepted: [0, 1], failed: [] }))
  await migrateTrees.perform(actionOf(3), workshopOf(deployment, { moving: (amount) => void told.push(amount) }))
  expect(told.at(-1)).toEqual({ done: 1, total: 1, unit: 'calls' })
})

describe('repeated failures', () => {
  const failure = refusedMigration(503, 'Service Unavailable')

  test.each([
    { what: 'five in a row', trees: [3, 4, 5, 6, 7], stopped: true },
    { what: 'four in a row, twice', trees: [1, 2, 3, 4, 6, 7, 8, 9], stopped: false },
  ])('$what', async ({ trees, stopped }) => {
    const { error, asked, account } = await performed(failsAt(trees, failure), actionOf(12))
    expect([error instanceof AdminError && error.message, asked.length, account.failed.length]).toEqual(
      stopped
        ? ["stopped after 5 failures in a row; last failure: HTTP 503, 'Service Unavailable'", 7, 5]
        : [false, 12, 8],
    )
  })

  test('that last keep nothing else from being asked for, and end with the run', async () => {
    const bad = [2, 4, 6, 8, 9]
    const action = actionOf(12)
    const deployment = fakeDeployment({ api: fakeApiControl(failsAt(bad, failure)) })
    deployment.notes.push(
      JSON.stringify({
        event: 'answered',
        accepted: [0, 2],
        failed: bad.map((tree) => ({ item: tree - 1, status: 503, message: 'x' })),
      }),
    )
    await migrateTrees.perform(action, workshopOf(deployment))
    expect(deployment.api.asked.map(({ tree }) => tree)).toEqual([5, 7, 10, 11, 12, ...bad])
    expect(migrateTrees.account!(action, deployment.notes)).toMatchObject({
      accepted: 7,
      skipped: 0,
      failed: { length: 5 },
    })
    // all that there are
    expect((await performed(() => failure, actionOf(5))).error).toBe(null)
  })

  test('of a kind that says nothing of the next item do not stop it', async () => {
    const { error, account } = await performed(() => refusedMigration(404, 'Not Found: no such tree'), actionOf(12))
    expect([error, account.failed.length]).toEqual([null, 12])
  })

  test('no answer counts as one, and is asked for again by who goes on', async () => {
    const { account, deployment } = await performed(
      failsAt([2], { status: 'refused', httpStatus: 0, message: 'no answer' }),
      actionOf(3),
    )
    expect(account).toEqual({
      requested: 3,
      accepted: 2,
      skipped: 0,
      failed: [{ project: 1, tree: 2, status: 0, message: 'no answer' }],
    })
    expect(await migrateTrees.isDone(actionOf(3), workshopOf(deployment))).toBe(false)
    await migrateTrees.perform(actionOf(3), workshopOf(deployment))
    expect(deployment.api.asked.map(({ tree }) => tree)).toEqual([1, 2, 3, 2])
  })
})

describe('a call that may have been taken is made once more at most, in all of a run:', () => {
  const lost: MigrationAnswer = { status: 'unknown', httpStatus: 0, message: 'the connection broke' }

  test('by who goes on, where it was not made again before', async () => {
    const action = actionOf(3)
    const { account, deployment } = await performed(failsAt([2], lost), action)
    const message = 'the connection broke. Cannot tell whether the service accepted the call'
    expect(account.failed).toEqual([{ project: 1, tree: 2, status: 0, message }])
    for (const isLeft of [true, false, false]) {
      expect(await migrateTrees.isDone(action, workshopOf(deployment))).toBe(!isLeft)
      await migrateTrees.perform(action, workshopOf(deployment))
    }
    expect(deployment.api.asked.map(({ tree }) => tree)).toEqual([1, 2, 3, 2])
    expect(migrateTrees.account!(action, deployment.notes).failed).toEqual([
      { project: 1, tree: 2, status: 0, message },
    ])
  })

  test('what was on record as being asked for counts as made', async () => {
    const action = actionOf(40)
    const allowed: [number | null, boolean][] = []
    const deployment = fakeDeployment({
      api: fakeApiControl(async ({ tree }, { again }) => (allowed.push([tree, await again()]), accepted)),
    })
    deployment.notes.push(JSON.stringify({ event: 'answered', accepted: [0], failed: [], asking: [[0, 3]] }))
    await migrateTrees.perform(action, workshopOf(deployment))
    expect(allowed.slice(0, 5)).toEqual([
      [2, false],
      [3, false],
      [4, false],
      [5, true],
      [6, true],
    ])
  })

  test('what was asked for twice and has no answer is not asked for again, and is told', async () => {
    const action = actionOf(4)
    const deployment = fakeDeployment()
    for (const asking of [[[0, 3]], [[0, 1]]])
      deployment.notes.push(JSON.stringify({ event: 'answered', accepted: [], failed: [], asking }))
    await migrateTrees.perform(action, workshopOf(deployment))
    expect(deployment.api.asked.map(({ tree }) => tree)).toEqual([3, 4])
    const message =
      'testops-admin was interrupted before it recorded an answer to this call, which it may have made twice. The ' +
      'service may have accepted it'
    expect(migrateTrees.account!(action, deployment.notes)).toEqual({
      requested: 4,
      accepted: 2,
      skipped: 0,
      failed: [1, 2].map((tree) => ({ project: 1, tree, status: 0, message })),
    })
    expect(await migrateTrees.isDone(action, workshopOf(deployment))).toBe(true)
  })

  test('what is asked for is on record before, and little more than that', async () => {
    const action = actionOf(200)
    const deployment = fakeDeployment()
    const announced: number[] = []
    const workshop = workshopOf(deployment)
    const note = async (text: string): Promise<void> => {
      const { asking = [] } = JSON.parse(text) as { asking?: [number, number][] }
      announced.push(
        ...asking.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, index) => first + index + 1)),
      )
      expect(announced.length - deployment.api.asked.length).toBeLessThanOrEqual(
        Math.max(4, 2 * deployment.api.asked.length),
      )
      return workshop.journal.note(text)
    }
    const failpoint = async (name: string): Promise<void> =>
      void (name === 'asking' && expect(announced).toContain(deployment.api.asked.length + 1))
    await migrateTrees.perform(action, { ...workshop, failpoint, journal: { ...workshop.journal, note } })
    expect(announced).toEqual(Array.from({ length: 200 }, (_, index) => index + 1))
  })

  test('what was not sent when it was stopped does not count', async () => {
    const action = actionOf(9)
    const gone = new AdminError('UNREACHABLE', 'the service has gone away')
    const deployment = fakeDeployment({
      api: fakeApiControl(({ tree }, { underway }) => (tree === 3 ? (underway(false), gone) : accepted)),
    })
    for (let times = 0; times < 4; times++)
      await expect(migrateTrees.perform(action, workshopOf(deployment))).rejects.toBe(gone)
    expect(migrateTrees.account!(action, deployment.notes)).toEqual({
      requested: 9,
      accepted: 2,
      skipped: 7,
      failed: [],
    })
  })
})

test.each(['UNAUTHENTICATED', 'UNREACHABLE', 'EXHAUSTED'] as const)(
  'what concerns every call (%s) stops it at once, and nothing that was answered is lost',
  async (code) => {
    const refused = new AdminError(code, 'no call would be taken')
    const { error, asked, account } = await performed(failsAt([3], refused), actionOf(9))
    expect([error, asked, account]).toEqual([refused, [1, 2, 3], { requested: 9, accepted: 2, skipped: 7, failed: [] }])
  },
)

test('a bug is one', async () => {
  const bug = new TypeError('x is not a function')
  const { error } = await performed(() => Promise.reject(bug), actionOf(9, 4))
  expect(error).toBe(bug)
})

test('a journal that cannot be written ends it', async () => {
  const full = new AdminError('UNAVAILABLE', 'the disk is full')
  const deployment = fakeDeployment({
    api: fakeApiControl(async () => new Promise((resolve) => setTimeout(() => resolve(accepted), 5))),
  })
  const workshop = workshopOf(deployment)
  const work = migrateTrees.perform(actionOf(2000), {
    ...workshop,
    journal: { ...workshop.journal, note: async () => Promise.reject(full) },
  })
  await expect(work).rejects.toBe(full)
  expect(deployment.api.asked.length).toBeLessThan(2000)
})

test('interrupted, what is under way is not waited for and counts as not asked', async () => {
  const stop = new AbortController()
  const { error, account, deployment } = await performed(
    ({ tree }) => {
      if (tree === 4) stop.abort(new AdminError('INTERRUPTED', 'interrupted by SIGINT'))
      return accepted
    },
    actionOf(9),
    { signal: stop.signal },
  )
  expect(error).toMatchObject({ code: 'INTERRUPTED', message: 'interrupted by SIGINT after 3 of 9 calls' })
  expect(account).toEqual({ requested: 9, accepted: 3, skipped: 6, failed: [] })
  await migrateTrees.perform(actionOf(9), workshopOf(deployment))
  expect(deployment.api.asked.map(({ tree }) => tree)).toEqual([1, 2, 3, 4, 4, 5, 6, 7, 8, 9])
})

test('another service than the one of the plan is refused before anything is asked', async () => {
  const deployment = fakeDeployment()
  const action = { ...actionOf(3), api: 'https://old.example.org' }
  const message =
    "the plan was made for https://old.example.org, but the deployment's address is now https://testops.example.org"
  await expect(migrateTrees.foresee!(action, workshopOf(deployment))).rejects.toMatchObject({
    code: 'REFUSED',
    message,
  })
  await expect(migrateTrees.perform(action, workshopOf(deployment))).rejects.toMatchObject({ code: 'REFUSED', message })
  expect(deployment.api.asked).toEqual([])
})

test('a 403 says which role it takes', async () => {
  const { account } = await performed(() => refusedMigration(403, 'Forbidden: Access is denied'), actionOf(1))
  expect(account.failed).toEqual([
    {
      project: 1,
      tree: 1,
      status: 403,
      message:
        "HTTP 403, 'Forbidden: Access is denied'; the call needs the project role `Владелец проекта` or the " +
        'global role `Администратор`',
    },
  ])
})

describe('what failed is named by one command,', () => {
  const noted = (count: number): string[] => [
    JSON.stringify({
      event: 'answered',
      accepted: [],
      failed: Array.from({ length: count }, (_, item) => ({
        item,
        status: 404,
        message: `HTTP 404, 'no tree ${item + 1}'`,
      })),
    }),
  ]
  const shortfall = (count: number) => migrateTrees.shortfall!(actionOf(20_000), noted(count))

  test('that holds a few', () => {
    expect(shortfall(2)).toEqual({
      message: '2 of 20,000 calls failed',
      suggestions: [
        'testops-admin migrate-trees -d {deployment} --tree 1/1 --tree 1/2   # run this once the cause of the ' +
          'failures is gone',
      ],
    })
  })

  test('that reads more from a file, with their reasons as long as that can be read again', () => {
    const { suggestions, file } = shortfall(11)!
    expect([suggestions, file?.command]).toEqual([
      [],
      'testops-admin migrate-trees -d {deployment} --from-file {file}   # repeats all failed calls (the file ' +
        'gives the reasons); run this once the cause of the failures is gone',
    ])
    expect(file?.text.split('\n').slice(9)).toEqual([
      "1/10   # HTTP 404, 'no tree 10'",
      "1/11   # HTTP 404, 'no tree 11'",
      '',
    ])
    expect(shortfall(10_001)?.file?.text.split('\n')[10_000]).toBe('1/10001')
  })
})
