import { expect, test } from 'vitest'
import { wholeList } from '../../src/adapters/rabbitmq/lists.ts'
import type { BrokerConnection } from '../../src/core/sources.ts'
import { connection, node } from '../fakes/index.ts'
import { failureOf } from './failure-of.ts'

const own = connection({ name: '10.0.0.1:42000 -> 10.0.0.9:5672', clientName: 'testops-admin' })
const other = connection({ name: '10.0.0.8:43000 -> 10.0.0.9:5672', clientName: 'billing', user: 'billing' })

/**
 * What is told after how many seconds, where the broker's lists change as given: after so many seconds, this is listed.
 */
async function listed(
  lists: Readonly<Record<number, readonly BrokerConnection[]>>,
  nodes = 1,
): Promise<{ told: unknown; seconds: number }> {
  const begin = performance.now()
  const since = (): number => (performance.now() - begin) / 1000
  const latest = (): readonly BrokerConnection[] =>
    lists[
      Math.max(
        ...Object.keys(lists)
          .map(Number)
          .filter((at) => at <= since()),
      )
    ]!
  const link = { each: async () => [], close: async () => undefined }
  const ask = wholeList(
    link,
    { connections: async () => latest(), nodes: async () => Array.from({ length: nodes }, () => node()) },
    { peer: { what: 'RabbitMQ', where: 'mq:5672', host: 'mq', port: 5672, suggestions: [] }, user: 'testops' },
  )
  const asked = ask()
  const failure = await failureOf(asked)
  return { told: failure ?? (await asked).map(({ user, clientName }) => `${clientName} of ${user}`), seconds: since() }
}

test.concurrent.each<
  [
    what: string,
    lists: Readonly<Record<number, readonly BrokerConnection[]>>,
    nodes: number,
    told: unknown,
    seconds: number,
  ]
>([
  ['as it is, where ours is in it', { 0: [own] }, 1, ['testops-admin of testops'], 0],
  [
    'once ours is in it, and with it who came before',
    { 0: [], 4: [other, own] },
    1,
    ['billing of billing', 'testops-admin of testops'],
    4,
  ],
  [
    'once all are listed with their users',
    { 0: [own, { ...other, user: '' }], 1: [own, other] },
    1,
    ['testops-admin of testops', 'billing of billing'],
    1,
  ],
  [
    'with one that never bears a user, after a while',
    { 0: [own, { ...other, user: '' }] },
    1,
    ['testops-admin of testops', 'billing of '],
    7,
  ],
  [
    'of a cluster only after a while: each node counts by itself',
    { 0: [own], 5: [own, other] },
    3,
    ['testops-admin of testops', 'billing of billing'],
    7,
  ],
  [
    'never, where another of our name is all there is',
    { 0: [{ ...own, user: 'billing' }] },
    1,
    expect.stringMatching(
      new RegExp(
        "^UNAVAILABLE RabbitMQ at mq:5672 does not list testops-admin's own connection, even after 7 s[.] " +
          'Its list of connections is out of date or incomplete',
      ),
    ),
    7,
  ],
])('the list of connections is told %s', async (_, lists, nodes, told, seconds) => {
  const found = await listed(lists, nodes)
  expect(found.told).toEqual(told)
  // never too early; later where the machine is busy
  expect(found.seconds).toBeGreaterThanOrEqual(seconds)
})
