import { beforeAll, describe, expect, test } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair.ts'
import type { RabbitmqLine, ServerRecord } from '../../../src/lab/servers/index.ts'
import { servers, startBroker } from '../../servers/index.ts'
import { queueDeployment } from './own-broker.ts'
import type { QueueDeployment } from './own-broker.ts'
import { declareAll, publishAll, transientExchanges, transientQueues, wholeOf } from './whole.ts'
import type { Whole } from './whole.ts'
import { wire, wireProperties } from './wire.ts'
import { decisive } from '../../support/campaign.ts'

const words = ['reset-queues', '--drain', '0', '--queue', '*']

/** All that a virtual host may hold. `vanishes`: so does the queue that a kill may cost. */
async function filled(
  line: RabbitmqLine,
  on: ServerRecord,
  { vanishes }: { vanishes: boolean },
): Promise<QueueDeployment> {
  const own = await queueDeployment(line, { on, declares: { exchanges: [], queues: [], bindings: [] } })
  const { user } = own.vhost.endpoint
  const broker = await wire(own.vhost.url)
  await declareAll(broker)
  for (const name of transientExchanges) {
    await own.service.log(
      '2026-11-24 08:00:00.000  INFO 1 --- [main] o.s.amqp.rabbit.core.RabbitAdmin : Auto-declaring a ' +
        `non-durable or auto-delete Exchange (${name}) durable:false, auto-delete:false.`,
    )
  }
  await publishAll(broker, 'plain', user)
  for (const queue of Object.keys(transientQueues).filter(
    (name) => !['plain', 'empty'].includes(name) && (vanishes || name !== 'passing'),
  )) {
    for (const [index, priority] of [1, 9, 5, 9, 1].entries())
      await broker.publish(
        '',
        queue,
        wireProperties({ priority, deliveryMode: 1 + (index % 2), messageId: `${index}` }),
        Buffer.from(`${queue} ${index}`),
      )
  }
  for (const queue of ['stays', 'quorum', 'stream'])
    await broker.publish('', queue, wireProperties({ deliveryMode: 2 }), Buffer.from(queue))
  await broker.close()
  return own
}

/** What the steps of the plan say, and nothing else. */
function reset(before: Whole): Whole {
  const durable = <T extends { durable: boolean }>(all: Record<string, T>): Record<string, T> =>
    Object.fromEntries(Object.entries(all).map(([name, it]) => [name, { ...it, durable: true }]))
  return { ...before, queues: durable(before.queues), exchanges: durable(before.exchanges) }
}

/** A kill can leave a message twice where a queue is not bounded. */
function once(whole: Whole): Whole {
  return {
    ...whole,
    messages: Object.fromEntries(Object.entries(whole.messages).map(([name, all]) => [name, [...new Set(all)]])),
  }
}

const lines = ['3', '4.3-permitting'] as const
/** the last in the middle of the way back of one of many queues */
const kills = [
  'hold-queues:declared',
  'move-messages:published#9',
  'delete-queues:deleted',
  'switch-exchanges:deleted#3',
  'redeclare-queues:declared',
  'move-messages:acked#20',
  'delete-held:deleted',
]

describe.each(lines)('all that a virtual host of RabbitMQ %s holds', (line) => {
  let server: ServerRecord
  beforeAll(async () => {
    if (line === '3') {
      server = servers().rabbitmq3
      return
    }
    const broker = await startBroker(line)
    server = broker.server
    return async () => broker.remove()
  })

  test('is as it was but for what the plan says, and so it is after the undo', async () => {
    const own = await filled(line, server, { vanishes: true })
    try {
      const whole = async (): Promise<Whole> => wholeOf(server, own.vhost.vhost, own.vhost.url)
      const before = await whole()
      expect([
        before.messages['plain']!.length > 35,
        before.bindings.length > 250,
        before.queues['custom']!.arguments.length > 100,
      ]).toEqual([true, true, true])
      const done = await own.operator.repair(words)
      expect({ code: done.code, whole: await whole() }, done.stderr).toEqual({ code: 0, whole: reset(before) })
      const { plan, run } = done.json<RepairDocument>()
      expect(plan.steps.flatMap(({ loses }) => loses ?? []).map((text) => text.slice(0, 40))).toMatchInlineSnapshot(`
          [
            "expiring, passing with all messages, if ",
            "the exact types of arguments that Rabbit",
            "expiring with all messages, if the time ",
            "for each moved message: the exchange it ",
          ]
        `)
      const undone = await own.operator.repair(['undo', run!])
      expect({ code: undone.code, whole: await whole() }, undone.stderr).toEqual({ code: 0, whole: before })
    } finally {
      await own.end()
    }
  }, 240_000)

  test.each(decisive(kills.slice(line === '3' ? 0 : 1), line === '3' ? 2 : 1))(
    'is so where the run is killed at %s and resumed, or undone',
    async (at) => {
      const own = await filled(line, server, { vanishes: false })
      try {
        const whole = async (): Promise<Whole> => wholeOf(server, own.vhost.vhost, own.vhost.url)
        const before = await whole()
        await own.operator.killedAt(at, words)
        const { runs } = (await own.operator.run(['history', '--json'])).json<{ runs: { run: string }[] }>()
        const undone = await own.operator.repair(['undo', runs[0]!.run])
        expect({ code: undone.code, whole: once(await whole()) }, undone.stderr).toEqual({
          code: 0,
          whole: once(before),
        })
        await own.operator.killedAt(at, words)
        const resumed = await own.operator.run(['resume', '--json'])
        expect({ code: resumed.code, whole: once(await whole()) }, resumed.stderr).toEqual({
          code: 0,
          whole: once(reset(before)),
        })
      } finally {
        await own.end()
      }
    },
    240_000,
  )
})
