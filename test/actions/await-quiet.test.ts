import { expect, test } from 'vitest'
import { handlerOf } from '../../src/actions/index.ts'
import type { Action } from '../../src/core/action.ts'
import { AdminError } from '../../src/core/error.ts'
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
    `REFUSED the service is stopped, but user testops is still connected to the broker from ${who}. ` +
      'testops-admin moves messages only while no other client uses the queues',
  )
})

const cut = new AdminError('UNREACHABLE', 'the connection was cut', [])
const drain: Action = { kind: 'drain-queues', queues: ['upload'], seconds: 2, counts: { messages: 0 } }

test.each<[Action, fails: number, end: string | null]>([
  [action, 2, null],
  [action, Number.POSITIVE_INFINITY, 'UNREACHABLE the connection was cut'],
  [drain, 2, null],
  // what is left is moved aside, and the step after this one asks the broker again
  [drain, Number.POSITIVE_INFINITY, null],
])('%j, where %d looks in a row meet a connection that was cut, ends with %s', async (of, fails, end) => {
  let looks = 0
  const count = { ready: 0, unacknowledged: 0, consumers: 0 }
  const deployment = fakeDeployment({
    service: 'running',
    broker: brokerWorld({
      queues: [{ name: 'upload' }],
      answers: {
        counts: () => (++looks <= fails ? cut : new Map([['upload', count]])),
        connectionsOf: [],
      },
    }),
  })
  expect(await failureOf(handlerOf(of).perform(of, workshopOf(deployment)))).toBe(end)
  if (Number.isFinite(fails)) expect(looks).toBe(fails + 1)
})
