import { expect, test } from 'vitest'
import { defineCheck } from '../../src/core/check.ts'
import type { Check } from '../../src/core/check.ts'
import type { ServiceControl } from '../../src/core/controls.ts'
import { AdminError } from '../../src/core/error.ts'
import { documentOf, carryOut } from '../../src/engine/carry-out.ts'
import { runState } from '../../src/core/run-state.ts'
import { fakeDeployment } from '../fakes/index.ts'
import { begun, machine, runOf, planOf, recordOf, run, stuck, told } from './repairing.ts'
import { beginJournal } from '../../src/engine/journal.ts'

function checkOf(id: string, isContent: boolean): Check {
  return defineCheck({
    id,
    title: id,
    reads: [],
    async run() {
      if (isContent) return { status: 'ok', detail: 'as it should be' }
      return {
        status: 'problem',
        severity: 'error',
        findings: [{ message: 'no', evidence: ['x'] }],
        remedy: { text: 'none', commands: [] },
      }
    },
  })
}

async function performed(
  verifiedBy: readonly string[],
  checks: readonly Check[],
  others: readonly string[] = [],
): Promise<[Awaited<ReturnType<typeof carryOut>>, ReturnType<typeof machine>]> {
  const journals = machine()
  const deployment = fakeDeployment({ rows: [stuck] })
  const record = recordOf({ plan: planOf({ verifiedBy }) })
  const journal = await beginJournal(journals, record, { by: 'op@bastion', failpoint: async () => undefined })
  const performance = runOf(deployment, { record, events: [] }, journal, { checks, others })
  return [await carryOut({ ...performance, workshop: { ...performance.workshop, patienceMs: 0 } }), journals]
}

test('the document of a run that is done', async () => {
  const [{ document, exitCode }] = await performed(['a/b'], [checkOf('a/b', true), checkOf('c/d', false)])
  expect(exitCode).toBe(0)
  expect({ ...document, applied: document.applied.map((it) => ({ ...it, durationMs: 0 })) }).toEqual({
    schemaVersion: 1,
    run,
    hash: document.hash,
    plan: planOf({ verifiedBy: ['a/b'] }),
    applied: [0, 1, 2].map((step) => ({ step, status: 'done', durationMs: 0 })),
    verification: { 'a/b': 'ok' },
    outcome: 'done',
  })
})

test('what another problem causes is no failure, if another repair is for that problem', async () => {
  const checks = [checkOf('a/b', false), { ...checkOf('c/d', false), explains: ['a/b'] }]
  const [{ document, exitCode }, journals] = await performed(['a/b'], checks, ['c/d'])
  expect({
    exitCode,
    outcome: document.outcome,
    verification: document.verification,
    reasons: document.reasons,
  }).toEqual({
    exitCode: 0,
    outcome: 'done',
    verification: { 'a/b': 'skipped' },
    reasons: { 'a/b': 'it fails because of `c/d`' },
  })
  expect(runState(await journals.here.read(run)).state).toBe('done')
  // of a problem that nobody named, or that is not there, nothing is known
  const [failed] = await performed(['a/b'], checks)
  expect(failed).toMatchObject({ exitCode: 1, document: { outcome: 'failed', verification: { 'a/b': 'error' } } })
  const [gone] = await performed(
    ['a/b'],
    [checkOf('a/b', false), { ...checkOf('c/d', true), explains: ['a/b'] }],
    ['c/d'],
  )
  expect(gone).toMatchObject({ exitCode: 1, document: { outcome: 'failed', verification: { 'a/b': 'error' } } })
})

test('a check of the plan that is not content makes it fail, and the run is over', async () => {
  const [{ document, exitCode }, journals] = await performed(
    ['a/b', 'c/d'],
    [checkOf('a/b', true), checkOf('c/d', false)],
  )
  expect([document.outcome, exitCode, document.verification]).toEqual(['failed', 1, { 'a/b': 'ok', 'c/d': 'error' }])
  expect(runState(await journals.here.read(run)).state).toBe('failed')
  expect(journals.deployment.kept.size).toBe(0)
})

test('of a bug its stack is told, and the run can be gone on with', async () => {
  const journals = machine()
  const deployment = fakeDeployment({ rows: [stuck] })
  const performance = await begun(journals, deployment)
  const service = async (): Promise<ServiceControl> => ({
    ...(await performance.workshop.control.service()),
    stop: async () => Promise.reject(new TypeError('x is not a function')),
  })
  const { document, exitCode, stack } = await carryOut({
    ...performance,
    workshop: { ...performance.workshop, control: { ...performance.workshop.control, service } },
  })
  expect([document.outcome, exitCode, document.error]).toEqual([
    'failed',
    70,
    {
      code: 'BUG',
      message: 'this is a bug in testops-admin: x is not a function',
      suggestions: [`testops-admin resume ${run} -d prod`, `testops-admin undo ${run} -d prod`],
    },
  ])
  expect(stack).toMatch(/^TypeError: x is not a function\n +at /)
  expect(runState(await journals.here.read(run)).state).toBe('unfinished')
})

test('what was verified is on record', async () => {
  const [, journals] = await performed(['a/b'], [checkOf('a/b', true)])
  const { events } = await journals.here.read(run)
  expect(events.at(-1)).toMatchObject({ event: 'ended', outcome: 'done', verification: { 'a/b': 'ok' } })
  expect(told({ events })).toHaveLength(9)
})

test('steps are told as they begin and end', async () => {
  const said: string[] = []
  const performance = await begun(machine(), fakeDeployment({ service: 'stopped', rows: [stuck] }))
  await carryOut({ ...performance, onStep: (step, status) => void said.push(`${step} ${status}`) })
  expect(said).toEqual(['0 begun', '0 already', '1 begun', '1 done', '2 begun', '2 done'])
})

test('a step that is interrupted is told as such', async () => {
  const said: string[] = []
  const stop = new AbortController()
  const performance = await begun(machine(), fakeDeployment({ rows: [stuck] }))
  stop.abort(new AdminError('INTERRUPTED', 'interrupted by SIGINT'))
  const workshop = { ...performance.workshop, signal: stop.signal }
  const { document } = await carryOut({
    ...performance,
    workshop,
    onStep: (step, status) => void said.push(`${step} ${status}`),
  })
  expect([said, document.applied.map(({ status }) => status)]).toEqual([['0 begun', '0 interrupted'], ['failed']])
})

test('a plan that was not begun has a document too', () => {
  expect(documentOf(planOf(), { outcome: 'planned' })).toMatchObject({
    schemaVersion: 1,
    run: null,
    applied: [],
    verification: {},
    outcome: 'planned',
  })
})
