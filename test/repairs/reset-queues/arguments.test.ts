import { describe, expect, test } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair.ts'
import { servers } from '../../servers/index.ts'
import { decisive, inner } from '../../support/campaign.ts'
import { foreign } from '../support/operator.ts'
import { queueDeployment } from './own-broker.ts'
import type { QueueDeployment } from './own-broker.ts'
import { eachType, wholeOf } from './whole.ts'
import type { Whole } from './whole.ts'
import { wire } from './wire.ts'
import type { Wire, WireTable } from './wire.ts'

async function withBroker(
  declare: (broker: Wire) => Promise<void>,
  work: (own: QueueDeployment, whole: () => Promise<Whole>) => Promise<void>,
): Promise<void> {
  const own = await queueDeployment('3', { declares: { exchanges: [], queues: [], bindings: [] } })
  try {
    const broker = await wire(own.vhost.url)
    await declare(broker)
    await broker.close()
    await own.service.log(
      '2026-11-24 08:00:00.000  INFO 1 --- [main] o.s.amqp.rabbit.core.RabbitAdmin : Auto-declaring a ' +
        'non-durable or auto-delete Exchange (odd) durable:false, auto-delete:false.',
    )
    await work(own, async () => wholeOf(servers().rabbitmq3, own.vhost.vhost, own.vhost.url))
  } finally {
    await own.end()
  }
}

const words = ['reset-queues', '--drain', '0', '--queue', '*']
/** RabbitMQ knows these, and compares them when the service declares them. */
const untold: readonly { what: string; of: 'queue' | 'exchange'; table: WireTable }[] = [
  { what: 'x-max-length', of: 'queue', table: [['x-max-length', ['l', 9_223_372_036_854_775_807n]]] },
  { what: 'x-dead-letter-exchange', of: 'queue', table: [['x-dead-letter-exchange', ['S', Buffer.from([0xff])]]] },
  { what: 'alternate-exchange', of: 'exchange', table: [['alternate-exchange', ['S', Buffer.from([0xff])]]] },
]

describe.concurrent('arguments', () => {
  test.each(untold)(
    'of which the list does not tell $what of a $of are refused before anything is done',
    async ({ what, of, table }) => {
      await withBroker(
        async (broker) => {
          await broker.declareQueue('upload', {}, of === 'queue' ? table : [])
          await broker.declareExchange('odd', 'direct', {}, of === 'exchange' ? table : [])
        },
        async (own, whole) => {
          const [before, calls] = [await whole(), await own.service.calls()]
          const refused = await own.operator.repair(words)
          const { error } = refused.json<{ error: { message: string } }>()
          expect({
            code: refused.code,
            message: error.message,
            whole: await whole(),
            calls: await own.service.calls(),
          }).toEqual({
            code: 4,
            message:
              `the broker does not show the exact value of ${what} of ${of} ${of === 'queue' ? 'upload' : 'odd'} ` +
              '(text that is not UTF-8, or a number above 2^53), so the repair cannot redeclare the queue or ' +
              'exchange unchanged',
            whole: before,
            calls,
          })
        },
      )
    },
  )

  test('that RabbitMQ does not know come back with their values, ' +
    'and the plan says that their types may not', async () => {
    // a name is compared as a whole by the broker, so that each has its own
    const table = eachType.map(([name, value]): WireTable[number] => [`x-${name}`, value])
    await withBroker(
      async (broker) => {
        await broker.declareQueue('upload', {}, table)
        await broker.declareExchange('odd', 'direct', {}, table)
      },
      async (own, whole) => {
        const before = await whole()
        const shown = async (kind: 'queues' | 'exchanges'): Promise<unknown> =>
          own.vhost.manage(
            'GET',
            `/api/${kind}/${own.vhost.vhost}/${kind === 'queues' ? 'upload' : 'odd'}?columns=arguments`,
          )
        const [queue, exchange] = [await shown('queues'), await shown('exchanges')]
        const done = await own.operator.repair(words)
        const after = await whole()
        expect(
          {
            code: done.code,
            durable: [after.queues['upload']?.durable, after.exchanges['odd']?.durable],
            queue: await shown('queues'),
            exchange: await shown('exchanges'),
          },
          done.stderr,
        ).toEqual({ code: 0, durable: [true, true], queue, exchange })
        expect([after.queues['upload']?.arguments, after.exchanges['odd']?.arguments]).not.toEqual([
          before.queues['upload']?.arguments,
          before.exchanges['odd']?.arguments,
        ])
        const { plan } = done.json<RepairDocument>()
        const loses = (kind: string): string => plan.steps.find(({ action }) => action.kind === kind)?.loses ?? ''
        expect([loses('redeclare-queues'), loses('switch-exchanges')]).toEqual([
          expect.stringMatching(
            /^the exact types of arguments that RabbitMQ does not define \(.* of upload.*\): whole numbers become /,
          ) as string,
          expect.stringMatching(
            /^the exact types of arguments that RabbitMQ does not define \(.* of odd.*\): whole numbers become /,
          ) as string,
        ])
      },
    )
  }, 120_000)
})

describe.concurrent('an exchange that goes with its last binding', () => {
  const declare = async (broker: Wire): Promise<void> => {
    await broker.declareQueue('upload', {})
    await broker.declareExchange('odd', 'topic', {})
    await broker.declareExchange('theirs', 'topic', { durable: true, autoDelete: true })
    await broker.bindQueue('upload', 'theirs', 'upload.#')
    await broker.declareExchange('next', 'fanout', { durable: true, autoDelete: true })
    await broker.bindExchange('odd', 'next', '')
  }

  test.each(inner(['delete-queues:deleted', 'switch-exchanges:deleted', 'delete-held:deleted', 'end:before'], 1))(
    'stays, with its bindings, across a kill at %s, undo, and the repair itself',
    async (at) => {
      await withBroker(declare, async (own, whole) => {
        const before = await whole()
        const durable: Whole = {
          ...before,
          queues: { upload: { ...before.queues['upload']!, durable: true } },
          exchanges: { ...before.exchanges, odd: { ...before.exchanges['odd']!, durable: true } },
        }
        await own.operator.killedAt(at, words)
        const { runs } = (await own.operator.run(['history', '--json'])).json<{ runs: { run: string }[] }>()
        const undone = await own.operator.repair(['undo', runs[0]!.run])
        expect({ code: undone.code, whole: await whole() }, undone.stderr).toEqual({ code: 0, whole: before })
        await own.operator.killedAt(at, words)
        const resumed = await own.operator.run(['resume', '--json'])
        expect({ code: resumed.code, whole: await whole() }, resumed.stderr).toEqual({ code: 0, whole: durable })
      })
    },
    240_000,
  )

  test.each(decisive(['delete-queues:deleted', 'delete-held:before'], 1))(
    'stays where another machine adopts the run that was killed at %s',
    async (at) => {
      await withBroker(declare, async (own, whole) => {
        const before = await whole()
        await own.operator.killedAt(at, words)
        const { runs } = (await own.operator.run(['history', '--json'])).json<{ runs: { run: string }[] }>()
        const resumed = await (await own.operator.elsewhere()).repair(['resume', '--adopt', runs[0]!.run, ...foreign])
        const { exchanges, bindings } = await whole()
        expect({ code: resumed.code, exchanges: Object.keys(exchanges), bindings }, resumed.stdout).toEqual({
          code: 0,
          exchanges: Object.keys(before.exchanges),
          bindings: before.bindings,
        })
      })
    },
    240_000,
  )

  test('is named as lost where messages are discarded, which needs no queue of this program', async () => {
    await withBroker(declare, async (own) => {
      const { plan } = (
        await own.operator.run([...words, '--discard-messages', '--dry-run', '--json'])
      ).json<RepairDocument>()
      expect(plan.steps.map(({ loses }) => loses).filter((it) => it !== undefined)).toEqual([
        'all messages in these queues, because of --discard-messages; auto-delete exchanges next, theirs with ' +
          'all bindings, unless the service declares them again',
      ])
    })
  })
})
