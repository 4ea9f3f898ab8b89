import type { Channel } from 'amqplib'
import type { ExchangeDeclaration, QueueDeclaration } from '../../../core/topology.ts'
import { nowhere } from '../../../knowledge/broker.ts'
import { refusal } from '../refusal.ts'
import { typedArguments } from './arguments.ts'
import type { On } from './queues.ts'

/**
 * The broker asks for a right before it looks at what is asked: so each is tried with something that changes nothing, or that it refuses
 * for another reason. Throws FORBIDDEN for the first that is missing.
 */
export async function tryRights(on: On, { queues, exchanges }: { queues: readonly QueueDeclaration[]; exchanges: readonly ExchangeDeclaration[] }): Promise<void> {
  await each(on, queues, 'declaring queue', async (channel, { name, durable, autoDelete, arguments: given }) =>
    channel.assertQueue(name, { durable, autoDelete, arguments: typedArguments(given) }),
  )
  await each(on, queues, 'reading queue', async (channel, { name }) => {
    // a priority is a number: such a consumer is none
    const { consumerTag } = await channel.consume(name, () => undefined, { arguments: { 'x-priority': 'none' } })
    await channel.cancel(consumerTag)
  })
  await each(on, queues.slice(0, 1), 'putting messages aside from queue', async (channel, { name }) => {
    channel.publish('', nowhere, Buffer.alloc(0))
    // its answer comes after a refusal of that
    await channel.checkQueue(name)
  })
  await each(on, exchanges, 'declaring exchange', async (channel, { name, type, durable, autoDelete, internal, arguments: given }) =>
    channel.assertExchange(name, type, { durable, autoDelete, internal, arguments: typedArguments(given) }),
  )
}

async function each<Item extends { name: string }>({ link, endpoint }: On, all: readonly Item[], what: string, work: (channel: Channel, item: Item) => Promise<unknown>): Promise<void> {
  await link.each<Item, void>(
    all,
    async (channel, item) => void (await work(channel, item)),
    (reply, { name }) => {
      const error = refusal(reply, endpoint, `${what} ${name}`)
      if (error.code === 'FORBIDDEN') throw error
    },
  )
}
