import { onBroker } from '../access/broker.ts'
import { waitForBroker } from '../control.ts'
import type { Fault, FaultCase } from '../fault.ts'
import type { Lab } from '../lab.ts'

const queues = ['billing.invoices', 'billing.reminders', 'metrics_upload']

async function remove(lab: Lab): Promise<void> {
  await onBroker(lab, async (channel) => {
    for (const name of queues) await channel.deleteQueue(name)
    await channel.deleteExchange('billing')
  })
}

function foreign(durable: boolean): Omit<FaultCase, 'variant' | 'made'> {
  return {
    expected: { exitCode: 0, problems: {}, allowedConsequences: [] },
    needs: { serving: true },
    async apply(lab) {
      // after a change of the broker, the service needs a moment to reconnect
      await waitForBroker(lab, 'up')
      await onBroker(lab, async (channel) => {
        await channel.assertExchange('billing', 'topic', { durable })
        for (const name of queues) {
          await channel.assertQueue(name, { durable, arguments: { 'x-message-ttl': 3_600_000 } })
          await channel.bindQueue(name, 'billing', '#')
          channel.sendToQueue(name, Buffer.from('not yours'))
        }
      })
    },
    revert: remove,
  }
}

export const foreignQueues: Fault = {
  id: 'foreign-queues',
  kind: 'healthy',
  title: 'another program has queues in the same virtual host',
  repair: 'nothing to do',
  cases: [
    {
      ...foreign(true),
      variant: 'durable',
      made: "another program has durable queues with messages in the service's virtual host",
    },
    {
      ...foreign(false),
      variant: 'transient',
      made: "another program has transient queues with messages in the service's virtual host, on a broker that permits them",
      needs: { broker: '3', serving: true },
    },
  ],
}
