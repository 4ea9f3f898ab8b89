import { expect, test } from 'vitest'
import type { Plan } from '../../src/core/plan.ts'
import { runState } from '../../src/core/run-state.ts'
import { documentOf, carryOut } from '../../src/engine/carry-out.ts'
import { fakeApiControl, fakeDeployment, refusedMigration } from '../fakes/index.ts'
import { begun, goneOnWith, machine, passing, planOf, recordOf, run } from './repairing.ts'

const plan: Plan = planOf({
  repair: 'migrate-trees',
  steps: [
    {
      title: 'ask',
      action: {
        kind: 'migrate-trees',
        api: 'https://testops.example.org',
        items: [
          { project: 1, tree: null },
          { project: 2, tree: 21 },
          { project: 3, tree: null },
        ],
        concurrency: 1,
      },
      interrupts: true,
      loses: 'the trees as they are',
    },
  ],
})
const none = { accepted: 0, failed: [] }

test(
  'a plan that is not carried out has an account too, ' + 'also where there is nothing to do; other repairs have none',
  () => {
    expect(documentOf(plan, { outcome: 'planned' })).toMatchObject({ requested: 3, skipped: 3, ...none })
    expect(documentOf({ ...plan, steps: [] }, { outcome: 'nothing-to-do' })).toMatchObject({
      requested: 0,
      skipped: 0,
      ...none,
    })
    expect(documentOf(planOf(), { outcome: 'planned' })).not.toHaveProperty('requested')
  },
)

test('what the service refused makes the repair fail, and the run is over', async () => {
  const journals = machine()
  const deployment = fakeDeployment({
    api: fakeApiControl(({ tree }) =>
      tree === 21 ? refusedMigration(404, 'Tree 21 not found') : { status: 'accepted' },
    ),
  })
  const { document, exitCode } = await carryOut(await begun(journals, deployment, undefined, recordOf({ plan })))
  expect([exitCode, document]).toMatchObject([
    1,
    {
      outcome: 'failed',
      requested: 3,
      accepted: 2,
      skipped: 0,
      failed: [
        {
          project: 2,
          tree: 21,
          status: 404,
          message: "project 2 or its tree 21 does not exist: HTTP 404, 'Tree 21 not found'",
        },
      ],
      error: {
        code: 'FAILED',
        message: '1 of 3 calls failed',
        suggestions: [
          'testops-admin migrate-trees -d prod --tree 2/21   # run this once the cause of the failures is gone',
        ],
      },
    },
  ])
  expect(runState(await journals.here.read(run)).state).toBe('failed')
})

test('killed in between, the account of who goes on is of the whole run', async () => {
  const journals = machine()
  const deployment = fakeDeployment()
  const { failpoint, killed } = passing('migrate-trees:noted')
  void begun(journals, deployment, failpoint, recordOf({ plan })).then(carryOut)
  await killed
  const { document } = await carryOut(await goneOnWith(journals, deployment))
  expect(document).toMatchObject({ outcome: 'done', requested: 3, accepted: 3, skipped: 0, failed: [] })
})
