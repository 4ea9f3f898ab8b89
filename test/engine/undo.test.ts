import { describe, expect, test } from 'vitest'
import { AdminError } from '../../src/core/error.ts'
import { isUnfinished, runState } from '../../src/core/run-state.ts'
import { carryOut, carryOutUndo } from '../../src/engine/carry-out.ts'
import { stepsToUndo } from '../../src/engine/undo.ts'
import { fakeDeployment } from '../fakes/index.ts'
import type { FakeDeployment } from '../fakes/index.ts'
import { begun, eventOf, free, goneOnWith, machine, passing, planOf, run, stuck, told } from './repairing.ts'
import type { Machines } from './repairing.ts'

async function done(): Promise<{ journals: Machines; deployment: FakeDeployment }> {
  const journals = machine()
  const deployment = fakeDeployment({ rows: [stuck] })
  await carryOut(await begun(journals, deployment))
  return { journals, deployment }
}

/** Killed once it had stopped the service and released the lock. */
async function halfDone(): Promise<{ journals: Machines; deployment: FakeDeployment }> {
  const journals = machine()
  const deployment = fakeDeployment({ rows: [stuck] })
  const { failpoint, killed } = passing('release-lock:released')
  await Promise.race([killed, carryOut(await begun(journals, deployment, failpoint))])
  return { journals, deployment }
}

test('a half done run is taken back to a service that is up, with its data in place', async () => {
  const { journals, deployment } = await halfDone()
  const { document, exitCode } = await carryOutUndo(await goneOnWith(journals, deployment))
  expect([document.outcome, exitCode, document.applied.map(({ step, status }) => `${step} ${status}`)]).toEqual([
    'done',
    0,
    ['1 undone', '0 undone'],
  ])
  expect(deployment).toMatchObject({ service: 'running', rows: [stuck] })
  expect(runState(await journals.here.read(run)).state).toBe('undone')
  expect(journals.deployment.kept.size).toBe(0)
})

test('an undo that is refused leaves the run as it stood', async () => {
  const { journals, deployment } = await done()
  const before = runState(await journals.here.read(run))
  const { document, exitCode } = await carryOutUndo(await goneOnWith(journals, deployment))
  expect([document.outcome, exitCode, document.error]).toEqual([
    'refused',
    4,
    {
      code: 'REFUSED',
      message: 'cannot restore the change-log lock while the service runs, because the service may be using the lock',
      suggestions: ['# stop the service'],
    },
  ])
  expect(deployment).toMatchObject({ service: 'running', rows: [free] })
  expect(runState(await journals.here.read(run))).toEqual(before)
  expect(journals.deployment.kept.size).toBe(0)
})

test('an undo that is interrupted before its first step leaves the run as it stood', async () => {
  const { journals, deployment } = await done()
  deployment.service = 'stopped'
  const before = runState(await journals.here.read(run))
  const performance = await goneOnWith(journals, deployment)
  const guard = {
    assertHeld: async (): Promise<void> =>
      Promise.reject(new AdminError('INTERRUPTED', 'this run lost its lock on the deployment')),
  }
  const { document, exitCode } = await carryOutUndo({ ...performance, guard })
  expect([document.outcome, exitCode, deployment.rows]).toEqual(['interrupted', 6, [free]])
  expect(runState(await journals.here.read(run))).toEqual(before)
})

test('an undo of a half done run that is refused can still be gone on with', async () => {
  const { journals, deployment } = await halfDone()
  deployment.service = 'running'
  const { document, exitCode } = await carryOutUndo(await goneOnWith(journals, deployment))
  expect([document.outcome, exitCode]).toEqual(['refused', 4])
  expect(document.error?.suggestions).toEqual([
    '# stop the service',
    `testops-admin undo ${run} -d prod --confirm prod`,
  ])
  deployment.service = 'stopped'
  const resumed = await carryOut(await goneOnWith(journals, deployment))
  expect([resumed.document.outcome, deployment.rows]).toEqual(['done', [free]])
})

describe('an undo that is killed', () => {
  test.each([
    'journal:here',
    'release-lock:undo-intended',
    'release-lock:undo-after',
    'stop-service:undo-intended',
    'stop-service:undo-after',
    'end:before',
  ])('at %s is repeated', async (name) => {
    const { journals, deployment } = await halfDone()
    const { failpoint, killed } = passing(name)
    await Promise.race([killed, carryOutUndo(await goneOnWith(journals, deployment, { failpoint }))])
    expect(isUnfinished(await journals.here.read(run))).toBe(true)
    const { document } = await carryOutUndo(await goneOnWith(journals, deployment))
    expect([document.outcome, document.error]).toEqual(['done', undefined])
    expect(deployment).toMatchObject({ service: 'running', rows: [stuck] })
    expect(runState(await journals.here.read(run)).state).toBe('undone')
    expect(journals.deployment.kept.size).toBe(0)
  })

  test('is known to the deployment again, though the run was over', async () => {
    const { journals, deployment } = await done()
    deployment.service = 'stopped'
    const { failpoint, killed } = passing('release-lock:undo-after')
    await Promise.race([killed, carryOutUndo(await goneOnWith(journals, deployment, { failpoint }))])
    expect(told(await journals.deployment.read(run)).slice(-2)).toEqual(['ended done', 'undo-intent 1'])
    expect(deployment.rows).toEqual([stuck])
  })
})

test('one that fails half way is half done, and says how to go on', async () => {
  const { journals, deployment } = await halfDone()
  const performance = await goneOnWith(journals, deployment)
  const service = async (): Promise<never> =>
    Promise.reject(new AdminError('TIMED_OUT', 'the service did not start within 600 s'))
  const failing = {
    ...performance,
    workshop: { ...performance.workshop, control: { ...performance.workshop.control, service } },
  }
  const { document, exitCode } = await carryOutUndo(failing)
  expect([document.outcome, exitCode, document.error?.suggestions]).toEqual([
    'interrupted',
    6,
    [`testops-admin undo ${run} -d prod --confirm prod`],
  ])
  expect(told(await journals.here.read(run)).slice(-3)).toEqual(['undo-intent 0', 'undo-failed 0', 'ended interrupted'])
})

test('a lost lock stops it before its next step', async () => {
  const { journals, deployment } = await halfDone()
  const performance = await goneOnWith(journals, deployment)
  let left = 1
  const guard = {
    async assertHeld(): Promise<void> {
      if (left-- === 0) throw new AdminError('INTERRUPTED', 'this run lost its lock on the deployment')
    },
  }
  const { document, exitCode } = await carryOutUndo({ ...performance, guard })
  expect([document.outcome, exitCode, deployment.service, deployment.rows]).toEqual([
    'interrupted',
    6,
    'stopped',
    [stuck],
  ])
})

describe('what is to be taken back', () => {
  const intent = (step: number): ReturnType<typeof eventOf> => eventOf({ event: 'intent', step })
  test.each([
    ['nothing was begun', [], []],
    [
      'what was so already is left',
      [eventOf({ event: 'done', step: 0, durationMs: 1, already: true }), intent(1)],
      [1],
    ],
    ['what has no way back is left', [intent(0), intent(1), intent(2)], [1, 0]],
    ['it was taken back', [intent(0), eventOf({ event: 'ended', outcome: 'undone' })], []],
  ])('%s', (_, events, steps) => expect(stepsToUndo(planOf(), events)).toEqual(steps))
})
