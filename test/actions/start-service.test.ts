import { expect, it } from 'vitest'
import { handlerOf } from '../../src/actions/index.ts'
import type { Action } from '../../src/core/action.ts'
import { AdminError } from '../../src/core/error.ts'
import type { ChangelogLockRow, ServiceSource } from '../../src/core/sources.ts'
import { errorOf, failureOf } from '../adapters/failure-of.ts'
import { fakeDeployment } from '../fakes/index.ts'
import { workshopOf } from './workshop.ts'

const action = { kind: 'start-service' } as Action
const noWay = new AdminError(
  'UNREACHABLE',
  'the cluster of context `test` reports pod `testops-0` as Ready, but this machine cannot connect to the pod',
  [],
  { obstacle: { kind: 'beyond' } },
)

function started(openApi: () => Promise<never>, patienceMs: number): Promise<string | null> {
  const workshop = workshopOf(fakeDeployment({ service: 'stopped' }), { patienceMs })
  return failureOf(handlerOf(action).perform(action, { ...workshop, open: { ...workshop.open, api: openApi } }))
}

it('a service to which this machine has no way is not waited for in vain, and is not said to migrate', async () => {
  const said = await started(async () => Promise.reject(noWay), 3000)
  expect(said).toBe(
    'UNREACHABLE the service was started and runs, but this machine cannot tell whether the service answers: ' +
      `${noWay.message}`,
  )
})

it(
  'an upgrade of which the pods are new is not waited for in vain, ' + 'where this machine has no way to the service',
  async () => {
    const wait = { kind: 'await-rollout' } as Action
    const workshop = workshopOf(fakeDeployment({ service: 'running' }), { patienceMs: 3000 })
    const said = await failureOf(
      handlerOf(wait).perform(wait, {
        ...workshop,
        open: { ...workshop.open, api: async () => Promise.reject(noWay) },
      }),
    )
    expect(said).toBe(
      'UNREACHABLE the service runs, and Kubernetes has replaced all of its old pods, but this machine cannot ' +
        `tell whether the service answers: ${noWay.message}`,
    )
  },
)

it('one of which an instance that serves lacks what is declared has not been started as it should', async () => {
  const deployment = fakeDeployment({ service: 'stopped' })
  const asked: (readonly string[])[] = []
  const workshop = workshopOf(deployment, { changed: ['TZ'], patienceMs: 1200 })
  const service = async (): Promise<ServiceSource> => ({
    ...(await workshop.open.service()),
    lacks: async (settings) => {
      asked.push(settings)
      return [
        { message: 'pod `a` runs with another value of `TZ` than is declared', proof: ['kubectl get pod a -o yaml'] },
      ]
    },
  })
  const own = { ...workshop, open: { ...workshop.open, service } }
  const error = await errorOf(handlerOf(action).perform(action, own))
  expect([error?.code, error?.message, error?.suggestions[0]]).toEqual([
    'FAILED',
    'the service answers, but does not run with the image or settings that it should have: pod `a` runs with ' +
      'another value of `TZ` than is declared',
    'kubectl get pod a -o yaml',
  ])
  // whoever resumes the run is told the same
  expect(await handlerOf(action).isDone(action, own)).toBe(false)
  expect(new Set(asked.flat())).toEqual(new Set(['TZ']))
})

it('one that has no pod yet is waited for', async () => {
  const none = new AdminError('UNAVAILABLE', 'service `testops` has no pod', [], { obstacle: { kind: 'instances' } })
  expect(await started(async () => Promise.reject(none), 1200)).toMatch(
    /^TIMED_OUT the service is running, but has not answered after 1 s/,
  )
})

/** Returns what is told, and how it ends, where a service does not answer while a lock is held. */
async function waited(
  before: ChangelogLockRow,
  since: ChangelogLockRow,
  service: 'stopped' | 'running' = 'stopped',
): Promise<string[]> {
  const rows = [before]
  const deployment = fakeDeployment({ service, rows })
  const told: string[] = []
  const workshop = workshopOf(deployment, { patienceMs: 1200, progress: (text: string) => void told.push(text) })
  const api = async (): Promise<never> => {
    rows.splice(0, rows.length, since)
    throw new AdminError('UNAVAILABLE', 'no answer yet', [], { obstacle: { kind: 'instances' } })
  }
  const wait = { ...action, locks: [{ database: 'db.example.org:5432/testops', schema: 'public' }] } as Action
  const failure = await failureOf(handlerOf(wait).perform(wait, { ...workshop, open: { ...workshop.open, api } }))
  return [...told.filter((text) => text.includes('Ctrl-C')), failure!]
}

const holder = 'testops-1 (10.0.0.7)'
const held = { id: 1, locked: true, lockGranted: '2026-11-26 12:00:00', lockedBy: holder }
const free = { id: 1, locked: false, lockGranted: null, lockedBy: null }

it('one that migrates is said to migrate, and that it may be left to do so', async () => {
  for (const before of [free, { ...held, lockGranted: '2026-11-26 11:00:00' }])
    expect(await waited(before, held)).toEqual([
      'the service is migrating its database, which can take hours. Ctrl-C ends only this wait; to wait again, run ' +
        '`testops-admin resume`',
      'TIMED_OUT the service is running, but has not answered after 1 s: it is migrating its database, which can ' +
        'take hours',
    ])
})

it('one that was started before, and is waited for again, may do either', async () => {
  const told = 'is migrating its database, which can take hours, or waiting for the change-log lock of ' + holder
  expect(await waited(held, held, 'running')).toEqual([
    `the service ${told}. Ctrl-C ends only this wait; to wait again, run \`testops-admin resume\``,
    `TIMED_OUT the service is running, but has not answered after 1 s: it ${told}`,
  ])
})

it('one that finds the lock held is not said to migrate: who holds it is told', async () => {
  expect(await waited(held, held)).toEqual([
    'the service may be waiting for the change-log lock, which testops-1 (10.0.0.7) already held before the start. ' +
      '`testops-admin doctor` shows whether the holder is at work. Ctrl-C ends only this wait; to wait again, run ' +
      '`testops-admin resume`',
    'TIMED_OUT the service is running, but has not answered after 1 s: it may be waiting for the change-log lock, ' +
      'which testops-1 (10.0.0.7) already held before the start',
  ])
})
