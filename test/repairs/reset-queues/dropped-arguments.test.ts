import { expect, test } from 'vitest'
import { resetQueues } from '../../../src/repairs/reset-queues.ts'
import { brokerWorld, consumer, fakeApi, fakeLogs, fakeService, settings } from '../../fakes/index.ts'

const deployment = {
  name: 'prod',
  platform: 'host',
  vendor: { prefix: 'VENDOR', package: 'VENDOR_PACKAGE' },
  timeZone: null,
} as const
const given = { 'x-queue-mode': 'lazy', 'x-queue-version': 1, 'x-queue-type': 'classic', 'x-max-priority': 5 }

/**
 * No 4.3 takes such a version, so that the queue can be shown on no real one: it is older than the broker's upgrade.
 */
test.each([
  ['3.10.8', given, []],
  ['4.2.0', { 'x-queue-mode': 'lazy', 'x-queue-version': 1, 'x-max-priority': 5 }, []],
  [
    '4.3.6',
    { 'x-queue-mode': 'lazy', 'x-max-priority': 5 },
    ['RabbitMQ 4.3.6 no longer accepts these arguments, so the repair leaves them out: upload: x-queue-version=1'],
  ],
])('RabbitMQ %s is asked for what it takes', async (version, kept, named) => {
  const { source } = brokerWorld({
    queues: [{ name: 'upload', durable: false, arguments: given }],
    answers: { identity: { product: 'RabbitMQ', version }, consumers: [consumer({ queue: 'upload' })] },
  })
  const service = fakeService({ environment: settings({ VENDOR_RABBIT_DURABLE: 'false' }) })
  const { steps, notes } = await resetQueues.plan(
    { broker: source, service, logs: fakeLogs(), api: fakeApi() },
    deployment,
    { drainSeconds: 0, discard: false, queues: [] },
  )
  const anew = steps.flatMap(({ action }) =>
    action.kind === 'redeclare-queues' ? action.queues.map(({ queue }) => queue) : [],
  )
  expect({ anew, named: notes.filter((note) => note.includes('leaves them out')) }).toEqual({
    anew: [{ name: 'upload', durable: true, autoDelete: false, arguments: kept }],
    named,
  })
})
