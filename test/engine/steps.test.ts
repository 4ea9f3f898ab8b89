import { expect, test } from 'vitest'
import { AdminError } from '../../src/core/error.ts'
import { isUnfinished } from '../../src/core/run-state.ts'
import { carryOut } from '../../src/engine/carry-out.ts'
import type { RunResult } from '../../src/engine/carry-out.ts'
import type { ServiceStatus } from '../../src/core/sources.ts'
import { whileStopped } from '../../src/engine/while-stopped.ts'
import { fakeDeployment, fakeService, openFakes, running } from '../fakes/index.ts'
import type { FakeDeployment } from '../fakes/index.ts'
import { wait } from './run.ts'
import { begun, free, goneOnWith, machine, passing, run, stuck, told } from './repairing.ts'

const steps = ({ document }: RunResult): string[] => document.applied.map(({ step, status }) => `${step} ${status}`)
const ending = ({ document, exitCode }: RunResult): unknown[] => [document.outcome, exitCode, document.error?.code]

/** Something else does that at that instant. */
function when(name: string, act: () => void): (reached: string) => Promise<void> {
  return async (reached) => {
    if (reached === name) act()
  }
}

test('each step is on record before it is done and after', async () => {
  const journals = machine()
  const deployment = fakeDeployment({ rows: [stuck] })
  const performed = await carryOut(await begun(journals, deployment))
  expect([ending(performed), steps(performed)]).toEqual([
    ['done', 0, undefined],
    ['0 done', '1 done', '2 done'],
  ])
  expect(told(await journals.here.read(run))).toEqual([
    'copied',
    'intent 0',
    'done 0',
    'intent 1',
    'noted 1',
    'done 1',
    'intent 2',
    'done 2',
    'ended done',
  ])
  expect(deployment.changes).toEqual(['service.stop', 'database.releaseLock', 'service.start'])
})

test('what is so already is not done', async () => {
  const journals = machine()
  const deployment = fakeDeployment({ service: 'stopped', rows: [free] })
  const performed = await carryOut(await begun(journals, deployment))
  expect(steps(performed)).toEqual(['0 already', '1 already', '2 done'])
  expect(deployment.changes).toEqual(['service.start'])
})

test('the first failure stops it, is on record, and says how to go on and back', async () => {
  const journals = machine()
  const deployment = fakeDeployment({ rows: [stuck] })
  const performance = await begun(journals, deployment)
  const database = async (): Promise<never> => Promise.reject(new AdminError('TIMED_OUT', 'PostgreSQL did not answer'))
  const performed = await carryOut({
    ...performance,
    workshop: { ...performance.workshop, control: { ...performance.workshop.control, database } },
  })
  expect([ending(performed), steps(performed)]).toEqual([
    ['interrupted', 6, 'TIMED_OUT'],
    ['0 done', '1 failed'],
  ])
  expect(performed.document.error?.suggestions).toEqual([
    `testops-admin resume ${run} -d prod`,
    `testops-admin undo ${run} -d prod`,
  ])
  expect(told(await journals.here.read(run)).slice(-3)).toEqual(['intent 1', 'failed 1', 'ended interrupted'])
  expect([deployment.service, deployment.rows]).toEqual(['stopped', [stuck]])
})

test('what is refused once the service was stopped gives it back', async () => {
  const journals = machine()
  const deployment = fakeDeployment({ rows: [stuck] })
  const hands = { ...stuck, lockedBy: 'testops-2 (10.0.0.8)' }
  const performed = await carryOut(
    await begun(
      journals,
      deployment,
      when('stop-service:after', () => (deployment.rows = [hands])),
    ),
  )
  expect([ending(performed), steps(performed)]).toEqual([
    ['refused', 4, 'REFUSED'],
    ['0 done', '1 failed', '1 undone', '0 undone'],
  ])
  expect(performed.document.error?.message).toMatch(
    new RegExp(
      String.raw`has changed since the plan was made: it was .*testops-1.* and is now .*testops-2.*\. ` +
        'Nothing was changed; the service is as it was before$',
    ),
  )
  expect([deployment.service, deployment.rows]).toEqual(['running', [hands]])
  expect(isUnfinished(await journals.here.read(run))).toBe(false)
})

test('what would be refused does not stop the service', async () => {
  const deployment = fakeDeployment({ rows: [stuck] })
  const hands = { ...stuck, lockedBy: 'testops-2 (10.0.0.8)' }
  const performed = await carryOut(
    await begun(
      machine(),
      deployment,
      when('begin:copied', () => (deployment.rows = [hands])),
    ),
  )
  expect([ending(performed), steps(performed), deployment.changes]).toEqual([['refused', 4, 'REFUSED'], [], []])
})

test('a lost lock stops it before its next step', async () => {
  const deployment = fakeDeployment({ rows: [stuck] })
  const performance = await begun(machine(), deployment)
  const guard = {
    async assertHeld(): Promise<void> {
      if (deployment.changes.length > 0)
        throw new AdminError('INTERRUPTED', 'this run lost its lock on the deployment (db)')
    },
  }
  const performed = await carryOut({ ...performance, guard })
  expect([ending(performed), steps(performed)]).toEqual([
    ['interrupted', 6, 'INTERRUPTED'],
    ['0 done', '1 failed'],
  ])
  expect(deployment.changes).toEqual(['service.stop'])
})

test('a lock that is lost before anything was done leaves nothing half done', async () => {
  const journals = machine()
  const deployment = fakeDeployment({ rows: [stuck] })
  const performance = await begun(journals, deployment)
  const guard = { assertHeld: async () => Promise.reject(new AdminError('INTERRUPTED', 'lost')) }
  const { document, exitCode } = await carryOut({ ...performance, guard })
  expect([document.outcome, exitCode, document.error?.suggestions]).toEqual(['interrupted', 6, []])
  expect([journals.deployment.kept.size, deployment.changes]).toEqual([0, []])
})

test('Ctrl-C stops it before its next step', async () => {
  const controller = new AbortController()
  const deployment = fakeDeployment({ rows: [stuck] })
  const performance = await begun(
    machine(),
    deployment,
    when('stop-service:stopped', () => controller.abort(new AdminError('INTERRUPTED', 'interrupted by SIGINT'))),
  )
  const performed = await carryOut({ ...performance, workshop: { ...performance.workshop, signal: controller.signal } })
  expect([ending(performed), steps(performed), performed.document.error?.message]).toEqual([
    ['interrupted', 6, 'INTERRUPTED'],
    ['0 done', '1 failed'],
    'interrupted by SIGINT',
  ])
})

test('a service that something else starts meanwhile stops it', async () => {
  const deployment = fakeDeployment({ rows: [stuck] })
  const performed = await carryOut(
    await begun(
      machine(),
      deployment,
      when('stop-service:after', () => (deployment.service = 'running')),
    ),
  )
  expect([ending(performed), performed.document.error?.message]).toEqual([
    ['interrupted', 6, 'INTERRUPTED'],
    'something else started the service while testops-admin was keeping it stopped: active (running)',
  ])
  expect(deployment.rows).toEqual([stuck])
})

test('a run that is gone on with stops the service again where it has been started since', async () => {
  const journals = machine()
  const deployment = fakeDeployment({ rows: [stuck] })
  const { failpoint, killed } = passing('stop-service:after')
  await Promise.race([killed, carryOut(await begun(journals, deployment, failpoint))])
  deployment.service = 'running'
  const performed = await carryOut(await goneOnWith(journals, deployment))
  expect([ending(performed), steps(performed)]).toEqual([
    ['done', 0, undefined],
    ['0 done', '1 done', '2 done'],
  ])
})

test('a bug is told as one, and leaves a journal that can be gone on with', async () => {
  const journals = machine()
  const deployment = fakeDeployment({ rows: [stuck] })
  const performed = await carryOut(
    await begun(
      journals,
      deployment,
      when('release-lock:judged', () => expect.fail('nobody thought of this')),
    ),
  )
  expect([ending(performed), performed.document.error?.message]).toEqual([
    ['failed', 70, 'BUG'],
    'this is a bug in testops-admin: nobody thought of this',
  ])
  expect(ending(await carryOut(await goneOnWith(journals, deployment)))).toEqual(['done', 0, undefined])
})

function failing(
  deployment: FakeDeployment,
  at: string,
  error: AdminError,
  journals = machine(),
): [typeof journals, Promise<RunResult>] {
  const full = when(at, () => (journals.here.failing = error))
  return [journals, begun(journals, deployment, full).then(carryOut)]
}

test('a journal that cannot be written any more stops it, and what was done is gone on with', async () => {
  const noSpace = new AdminError(
    'UNAVAILABLE',
    'the record of this run cannot be saved: ENOSPC: no space left on device',
  )
  const deployment = fakeDeployment({ rows: [stuck] })
  const [journals, performing] = failing(deployment, 'release-lock:released', noSpace)
  const performed = await performing
  expect([ending(performed), performed.document.error?.message, performed.document.run]).toEqual([
    ['interrupted', 6, 'UNAVAILABLE'],
    noSpace.message,
    run,
  ])
  journals.here.failing = null
  const resumed = await carryOut(await goneOnWith(journals, deployment))
  expect([ending(resumed), steps(resumed)]).toEqual([
    ['done', 0, undefined],
    ['0 already', '1 already', '2 done'],
  ])
})

test('an end that cannot be noted is no end', async () => {
  const noSpace = new AdminError(
    'UNAVAILABLE',
    'the record of this run cannot be saved: ENOSPC: no space left on device',
  )
  const deployment = fakeDeployment({ rows: [stuck] })
  const [journals, performing] = failing(deployment, 'end:before', noSpace)
  const performed = await performing
  expect([ending(performed), performed.document.error?.suggestions]).toEqual([
    ['interrupted', 6, 'UNAVAILABLE'],
    [`testops-admin resume ${run} -d prod`, `testops-admin undo ${run} -d prod`],
  ])
  journals.here.failing = null
  expect(ending(await carryOut(await goneOnWith(journals, deployment)))).toEqual(['done', 0, undefined])
  expect(journals.deployment.kept.size).toBe(0)
})

const restarting: ServiceStatus = { state: 'failed', detail: 'CrashLoopBackOff', instances: [], startsAgain: true }
const forEver = new Promise<never>(() => undefined)

// side by side: they wait, and take no processor
test.concurrent.each<{
  what: string
  status: ServiceStatus
  at?: 'step' | 'lock'
  work: () => Promise<unknown>
  ended: string
}>([
  // as long as moving a million messages takes
  {
    what: 'runs',
    status: running({ detail: '0 of 1 replicas ready' }),
    work: async () => wait(2500),
    ended: 'failed 1',
  },
  { what: 'is started again and again', status: restarting, work: async () => wait(2500), ended: 'failed 1' },
  { what: 'runs while the step hears nothing', status: running(), work: async () => forEver, ended: 'failed 1' },
  {
    what: 'runs, and the step fails of it',
    status: running(),
    work: async () => wait(2500).then(() => Promise.reject(new AdminError('FAILED', 'somebody else has done it'))),
    ended: 'failed 1',
  },
  {
    what: 'runs while a lock is asked whether it is held',
    status: running(),
    at: 'lock',
    work: async () => wait(2500),
    ended: 'done 0',
  },
])(
  'an instance that appears during a long step is noticed within 5 s, and ends the run: it $what',
  async ({ status, at = 'step', work, ended }) => {
    const journals = machine()
    const deployment = fakeDeployment({ rows: [stuck] })
    const performance = await begun(journals, deployment)
    const { workshop } = performance
    let appearedAt = 0
    let isStarted = false
    const service = async (): ReturnType<typeof workshop.open.service> => {
      const source = await workshop.open.service()
      return { ...source, status: async () => (isStarted ? status : source.status()) }
    }
    const appear = async (): Promise<void> => {
      isStarted = true
      appearedAt = Date.now()
      await work()
    }
    const slow = async (): ReturnType<typeof workshop.control.database> => {
      if (at === 'step') await appear()
      return workshop.control.database()
    }
    const guard = {
      async assertHeld() {
        if (at === 'lock' && deployment.changes.includes('service.stop') && !isStarted) await appear()
      },
    }
    const performed = await carryOut({
      ...performance,
      guard,
      workshop: { ...workshop, open: { ...workshop.open, service }, control: { ...workshop.control, database: slow } },
    })
    expect([ending(performed), steps(performed)]).toEqual([
      ['interrupted', 6, 'INTERRUPTED'],
      ['0 done', '1 failed'],
    ])
    expect([performed.document.error?.message, Date.now() - appearedAt < 5000]).toEqual([
      `something else started the service while testops-admin was keeping it stopped: ${status.detail}`,
      true,
    ])
    expect(told(await journals.here.read(run)).slice(-2)).toEqual([ended, 'ended interrupted'])
  },
)

test.concurrent.each([
  {
    what: 'does not answer is asked again',
    first: async () => Promise.reject(new AdminError('UNREACHABLE', 'no answer')),
  },
  { what: 'loses a question is asked again', first: async () => forEver },
])('a step that waits is given up as soon as an instance appears, and a platform that $what', async ({ first }) => {
  let asked = 0
  const status = async (): Promise<ServiceStatus> => {
    asked += 1
    if (asked === 1) return first()
    return running({ detail: 'active (running)' })
  }
  const open = openFakes({ service: { ...fakeService(), status } })
  const workshop = { open, signal: new AbortController().signal } as unknown as Parameters<
    typeof whileStopped
  >[0]['workshop']
  const begin = Date.now()
  const waiting = whileStopped(
    { workshop },
    async (signal) =>
      new Promise<void>((_, reject) =>
        signal.addEventListener('abort', () => reject(new AdminError('INTERRUPTED', 'interrupted while moving'))),
      ),
  )
  await expect(waiting).rejects.toMatchObject({
    code: 'INTERRUPTED',
    message: 'something else started the service while testops-admin was keeping it stopped: active (running)',
  })
  expect(Date.now() - begin).toBeLessThan(5000)
})
