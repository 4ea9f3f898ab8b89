import { expect, test } from 'vitest'
import { AdminError } from '../../src/core/error.ts'
import type { RunEvent } from '../../src/core/run.ts'
import { foresee } from '../../src/engine/plan.ts'
import { eventOf, machine, planOf, recordOf, run } from './repairing.ts'

const took = (step: number, durationMs: number): RunEvent[] => [
  eventOf({ event: 'intent', step }),
  eventOf({ event: 'done', step, durationMs }),
]

test('without a history nothing is known', async () => {
  expect(await foresee(planOf(), machine())).toEqual(planOf({ expectedMs: [null, null, null] }))
})

test('durations are those of this deployment, each kind by its median, done in one go', async () => {
  const journals = machine()
  const runs: [suffix: string, events: RunEvent[]][] = [
    ['0001', [...took(0, 4000), ...took(1, 20)]],
    ['0002', [...took(0, 900_000), eventOf({ event: 'done', step: 1, durationMs: 1, already: true })]],
    ['0003', [...took(0, 6000), eventOf({ event: 'intent', step: 1 }), ...took(1, 3)]],
  ]
  for (const [suffix, events] of runs) {
    const name = run.replace(/....$/, suffix)
    await journals.here.begin(recordOf({ run: name }), events)
  }
  journals.here.kept.set(run, ['damaged'])
  expect((await foresee(planOf(), journals)).expectedMs).toEqual([6000, 20, null])
})

test('where the deployment can keep no journal, the plan says so', async () => {
  const journals = {
    ...machine(),
    there: async () => Promise.reject(new AdminError('NOT_CONFIGURED', 'no broker is configured')),
  }
  expect((await foresee(planOf({ notes: ['op holds it'] }), journals)).notes).toEqual([
    'op holds it',
    "`resume` works only on this machine, because the deployment cannot keep a copy of the run's record: no " +
      'broker is configured',
  ])
})

test('a plan that does nothing is left as it is, and asks nothing', async () => {
  const journals = { ...machine(), there: async () => Promise.reject(new Error('asked')) }
  expect(await foresee(planOf({ steps: [] }), journals)).toEqual(planOf({ steps: [] }))
})

test('an interruption is passed on', async () => {
  const journals = { ...machine(), there: async () => Promise.reject(new AdminError('INTERRUPTED', 'interrupted')) }
  await expect(foresee(planOf(), journals)).rejects.toMatchObject({ code: 'INTERRUPTED' })
})
