import { expect, it } from 'vitest'
import { handlerOf } from '../../src/actions/index.ts'
import type { Action } from '../../src/core/action.ts'
import { AdminError } from '../../src/core/error.ts'
import { failureOf } from '../adapters/failure-of.ts'
import { fakeDeployment } from '../fakes/index.ts'
import { workshopOf } from './workshop.ts'

const action = { kind: 'start-service' } as Action
const noWay = new AdminError('UNREACHABLE', 'the cluster of context `test` calls pod `testops-0` Ready, and opens no way there from this machine', [], { obstacle: { kind: 'beyond' } })

function started(openApi: () => Promise<never>, patienceMs: number): Promise<string | null> {
  const workshop = workshopOf(fakeDeployment({ service: 'stopped' }), { patienceMs })
  return failureOf(handlerOf(action).perform(action, { ...workshop, open: { ...workshop.open, api: openApi } }))
}

it('a service to which this machine has no way is not waited for in vain, and is not said to migrate', async () => {
  const said = await started(async () => Promise.reject(noWay), 3000)
  expect(said).toBe(`UNREACHABLE the service was started and runs; whether it answers is not known: ${noWay.message}`)
})

it('one that has no pod yet is waited for', async () => {
  const none = new AdminError('UNAVAILABLE', 'service `testops` has no pod', [], { obstacle: { kind: 'pods' } })
  expect(await started(async () => Promise.reject(none), 1200)).toMatch(/^TIMED_OUT the service runs and has not answered for 1 s/)
})
