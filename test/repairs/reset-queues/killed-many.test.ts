import { expect, test } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair.ts'
import { isCampaign } from '../../support/campaign.ts'
import { madeDurable, withOwn, withoutRepetitions } from './own-broker.ts'
import type { Beans } from './own-broker.ts'

/** More than a page of the management API holds by default, and than are asked for at a time on one connection. */
const names = Array.from({ length: 300 }, (_, index) => `queue-${String(index).padStart(3, '0')}`)
const declares: Beans = {
  exchanges: [{ name: 'many', type: 'direct' }],
  queues: names.map((name) => ({ name })),
  bindings: names
    .filter((_, index) => index % 3 === 0)
    .map((queue) => ({ exchange: 'many', queue, routingKey: queue })),
}

test('300 queues, of which each seventh holds messages, are reset across a kill, and in the campaign taken back ' +
  'across another', async () => {
  await withOwn(
    '3',
    async ({ connect, operator, state }) => {
      const connection = await connect()
      const channel = await connection.createConfirmChannel()
      for (const name of names.filter((_, index) => index % 7 === 0))
        for (const text of ['1', '2']) channel.sendToQueue(name, Buffer.from(`${name} ${text}`), { persistent: true })
      await channel.waitForConfirms()
      await connection.close()
      const before = await state()
      await operator.killedAt('move-messages:published#20', ['reset-queues', '--drain', '0'])
      const resumed = await operator.run(['resume', '--json'])
      const { plan, run } = resumed.json<RepairDocument>()
      expect({ code: resumed.code, impact: plan.impact, state: withoutRepetitions(await state()) }).toEqual({
        code: 0,
        impact: {
          messagesMoved: 86,
          queuesWithMessages: 43,
          queuesReset: 300,
          exchangesReset: 1,
          settingsChanged: 1,
          serviceRestarts: 1,
        },
        state: madeDurable(before),
      })
      if (!isCampaign) return
      await operator.killedAt('redeclare-queues:undo-after', ['undo', run!])
      const undone = await operator.repair(['undo', run!])
      expect({ code: undone.code, state: withoutRepetitions(await state()) }).toEqual({ code: 0, state: before })
    },
    { declares },
  )
}, 180_000)
