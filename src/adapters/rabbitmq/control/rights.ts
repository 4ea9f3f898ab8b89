import type { Channel } from 'amqplib'
import type { Trial } from '../../../core/broker-control.ts'
import type { Binding, QueueDeclaration } from '../../../core/topology.ts'
import { nowhere } from '../../../knowledge/broker.ts'
import { refusal } from '../refusal.ts'
import { typedArguments } from './arguments.ts'
import type { On } from './queues.ts'

/**
 * The broker asks for a right before it looks at what is asked: so each is tried with something that changes nothing,
 * or that it refuses for another reason. Throws FORBIDDEN for the first that is missing.
 */
export async function tryRights(on: On, { queues, exchanges, bindings, discards = false }: Trial): Promise<void> {
  await each(on, queues, 'declaring queue', async (channel, { name, durable, autoDelete, arguments: given }) =>
    channel.assertQueue(name, { durable, autoDelete, arguments: typedArguments(given) }),
  )
  // whoever declares a queue that sends dead letters has to have the right to read it
  await each(
    on,
    discards ? queues.filter((it) => deadLetterExchange(it) !== null) : queues,
    'reading queue',
    async (channel, { name }) => {
      // a priority is a number: such a consumer is none
      const { consumerTag } = await channel.consume(name, () => undefined, { arguments: { 'x-priority': 'none' } })
      await channel.cancel(consumerTag)
    },
  )
  await each(on, discards ? [] : queues.slice(0, 1), 'putting messages aside from queue', async (channel, { name }) => {
    channel.publish('', nowhere, Buffer.alloc(0))
    // its answer comes after a refusal of that
    await channel.checkQueue(name)
  })
  await each(
    on,
    exchanges,
    'declaring exchange',
    async (channel, { name, type, durable, autoDelete, internal, arguments: given }) =>
      channel.assertExchange(name, type, { durable, autoDelete, internal, arguments: typedArguments(given) }),
  )
  // what is not there is taken away with the same rights as it is made, and without a word
  const deadLetters = new Set(queues.map(deadLetterExchange).filter((name) => name !== null))
  const exchangesTo = [...deadLetters].map((name) => ({ name, source: name, kind: 'exchange' as const }))
  await each(on, exchangesTo, 'sending dead letters to exchange', unbindNothing)
  const ends = new Map(
    bindings.map((it) => [
      JSON.stringify([it.source, it.destinationKind, it.destination]),
      { name: it.destination, source: it.source, kind: it.destinationKind },
    ]),
  )
  await each(on, [...ends.values()], 'making bindings to', unbindNothing)
}

/** The named exchange; null if there is none or it is the default one. */
function deadLetterExchange({ arguments: { 'x-dead-letter-exchange': name } }: QueueDeclaration): string | null {
  return typeof name === 'string' && name !== '' ? name : null
}

async function unbindNothing(
  channel: Channel,
  { name, source, kind }: { name: string; source: string; kind: Binding['destinationKind'] },
): Promise<void> {
  await (kind === 'queue' ? channel.unbindQueue(name, source, nowhere) : channel.unbindExchange(name, source, nowhere))
}

async function each<Item extends { name: string }>(
  { link, endpoint }: On,
  all: readonly Item[],
  what: string,
  work: (channel: Channel, item: Item) => Promise<unknown>,
): Promise<void> {
  await link.each<Item, void>(
    all,
    async (channel, item) => void (await work(channel, item)),
    (reply, { name }) => {
      const error = refusal(reply, endpoint, `${what} ${name}`)
      if (error.code === 'FORBIDDEN') throw error
    },
  )
}
