import { describe, expect, test } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair.ts'
import { madeDurable, queueDeployment, withoutRepetitions } from './own-broker.ts'
import type { QueueDeployment } from './own-broker.ts'
import { decisive, spread } from '../../support/campaign.ts'

const reset = ['reset-queues', '--drain', '0']
/** of three digits each */
const bound = 200
const more = 130

const kinds = [
  { kind: 'by number', values: { 'x-max-length': bound, 'x-overflow': 'reject-publish' } },
  {
    kind: 'by number, and sends on what it refuses',
    values: {
      'x-max-length': bound,
      'x-overflow': 'reject-publish-dlx',
      'x-dead-letter-exchange': '',
      'x-dead-letter-routing-key': 'refused',
    },
  },
  { kind: 'by bytes', values: { 'x-max-length-bytes': 3 * bound, 'x-overflow': 'reject-publish' } },
  {
    kind: 'by number, and is gone with its last reader',
    values: { 'x-max-length': bound, 'x-overflow': 'reject-publish' },
    autoDelete: true,
  },
  { kind: 'by a policy', values: {} },
]

/** A queue whose reader had some when it became full, and gave them back: only what is ready counts. */
async function overfull({ values, autoDelete = false }: (typeof kinds)[number]): Promise<QueueDeployment> {
  const own = await queueDeployment('3', {
    declares: {
      exchanges: [],
      queues: [{ name: 'full', arguments: values, autoDelete }, { name: 'refused' }],
      bindings: [],
    },
  })
  if (Object.keys(values).length === 0) {
    const definition = {
      pattern: '^full$',
      'apply-to': 'queues',
      definition: { 'max-length': bound, overflow: 'reject-publish' },
    }
    await own.vhost.manage('PUT', `/api/policies/${own.vhost.vhost}/bound`, definition)
  }
  const texts = Array.from({ length: bound + more }, (_, index) => String(index + 100))
  await own.fill('full', texts.slice(0, bound))
  const connection = await own.connect()
  const channel = await connection.createChannel()
  for (let index = 0; index < more; index += 1) await channel.get('full')
  await own.fill('full', texts.slice(bound))
  await connection.close()
  expect(await own.texts('full')).toEqual(texts)
  return own
}

describe.concurrent('a queue that refuses what is too much, and holds more, has all of it afterwards: bounded', () => {
  test.each(decisive(kinds, 3))(
    '$kind',
    async (kind) => {
      const own = await overfull(kind)
      try {
        const before = await own.state()
        const done = await own.operator.repair(reset)
        expect({ code: done.code, state: await own.state() }, done.stderr).toEqual({
          code: 0,
          state: madeDurable(before),
        })
        const undone = await own.operator.repair(['undo', done.json<RepairDocument>().run!])
        expect({ code: undone.code, state: await own.state() }, undone.stderr).toEqual({ code: 0, state: before })
      } finally {
        await own.end()
      }
    },
    120_000,
  )

  // before an attempt is confirmed, and once some are ours
  test.each(
    ['published#2', 'confirmed#2', 'acked#2'].flatMap((instant, index) =>
      spread([kinds[0]!, kinds[2]!], 2, index % 2).map((kind) => ({ ...kind, instant })),
    ),
  )(
    '$kind, where its way back is killed at $instant',
    async ({ instant, ...kind }) => {
      const own = await overfull(kind)
      try {
        const before = await own.state()
        await own.operator.killedAt('redeclare-queues:after', reset)
        await own.operator.killedAt(`move-messages:${instant}`, ['resume'])
        const resumed = await own.operator.repair(['resume'])
        expect({ code: resumed.code, state: await own.state() }, resumed.stderr).toEqual({
          code: 0,
          state: madeDurable(before),
        })
        await own.operator.killedAt(`delete-queues:undo-${instant}`, ['undo', resumed.json<RepairDocument>().run!])
        const undone = await own.operator.repair(['undo', resumed.json<RepairDocument>().run!])
        expect({ code: undone.code, state: withoutRepetitions(await own.state()) }, undone.stderr).toEqual({
          code: 0,
          state: before,
        })
      } finally {
        await own.end()
      }
    },
    120_000,
  )
})
