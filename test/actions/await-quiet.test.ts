import { expect, test } from 'vitest'
import { handlerOf } from '../../src/actions/index.ts'
import type { Action } from '../../src/core/action.ts'
import type { TrackedConnection } from '../../src/core/sources.ts'
import { failureOf } from '../adapters/failure-of.ts'
import { brokerWorld, fakeDeployment } from '../fakes/index.ts'
import { workshopOf } from './workshop.ts'

const action: Action = { kind: 'await-quiet', queues: ['upload'], user: 'testops' }
const of = { name: '10.0.0.5:41000 -> 10.0.0.2:5672', user: 'testops', clientName: null }

async function quiet(connections: readonly TrackedConnection[]): Promise<string | null> {
  const deployment = fakeDeployment({
    service: 'stopped',
    broker: brokerWorld({ queues: [{ name: 'upload' }], answers: { connectionsOf: connections } }),
  })
  return failureOf(handlerOf(action).perform(action, workshopOf(deployment)))
}

test.each<[what: string, connections: readonly TrackedConnection[]]>([
  ['nobody', []],
  ['ourselves', [{ ...of, clientName: 'testops-admin', isListed: true }]],
  ['one that no list has for long, and that the broker forgot to strike off', [{ ...of, isListed: false }]],
])('is not kept by %s', async (_, connections) => {
  expect(await quiet(connections)).toBe(null)
})

test.each<[what: string, connection: TrackedConnection, who: string]>([
  ['one without a name', { ...of, isListed: true }, '10.0.0.5:41000 -> 10.0.0.2:5672'],
  ['one with a name', { ...of, clientName: 'rabbitConnectionFactory#1', isListed: true }, 'rabbitConnectionFactory#1'],
])('is kept by %s', async (_, connection, who) => {
  expect(await quiet([connection])).toBe(
    `REFUSED with the service stopped, user testops is still connected from ${who}: its messages cannot be moved under their hands`,
  )
})
