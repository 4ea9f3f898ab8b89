import type { Binding, BrokerControl, Declared, ExchangeDeclaration, Trial } from '../../../core/broker-control.ts'
import type { BrokerEndpoint, Opened } from '../../../core/endpoint.ts'
import type { MessageMover } from '../../../core/message-mover.ts'
import { countsOf } from '../lists.ts'
import { brokerLink } from '../link.ts'
import { brokerPeer } from '../connection.ts'
import { keeper } from './keep.ts'
import { declareQueues, deleteQueues, purge, typedArguments, typedInEachWay, withBytes } from './queues.ts'
import type { Channel } from 'amqplib'
import type { Reply } from '../refusal.ts'
import { refusal } from '../refusal.ts'
import type { On } from './queues.ts'
import { namedDeadLetterExchange, nowhere } from '../../../knowledge/broker.ts'
import { consumeNothing, distinct, isOfUnusedKey, lackedPermission, unbindNothing } from './permissions.ts'
import type { Ends } from './permissions.ts'

/** Opens a control of a virtual host over AMQP only, so no plugin is needed. Connects on first use. */
export function openBrokerControl(
  endpoint: BrokerEndpoint,
  { timeoutMs }: { timeoutMs: number },
): Opened<BrokerControl> {
  const peer = brokerPeer(endpoint)
  const link = brokerLink(endpoint, peer, timeoutMs)
  const on = { link, endpoint }
  const kept = keeper(endpoint, peer, timeoutMs)
  let moving: Promise<Opened<MessageMover>> | null = null
  const held = async <T>(work: () => Promise<T>): Promise<T> => {
    kept.assertHeld()
    const result = await work()
    kept.assertHeld()
    return result
  }
  return {
    source: {
      target: peer.where,
      declareQueues: async (queues) => held(async () => declareQueues(on, queues)),
      deleteQueue: async (name, { most }) =>
        held(async () => (await deleteQueues(on, [{ name, most }])).get(name) ?? 'missing'),
      deleteQueues: async (queues) => held(async () => deleteQueues(on, queues)),
      declareExchange: async (exchange) => held(async () => declareExchange(on, exchange)),
      deleteExchange: async (name) => held(async () => deleteExchange(on, name)),
      bind: async (bindings) => held(async () => bindAll(on, bindings)),
      tryRights: async (of) => held(async () => tryRights(on, of)),
      lackedPermission: async (of) => lackedPermission(link, of),
      unbind: async (bindings) => held(async () => unbindAll(on, bindings)),
      purge: async (name) => held(async () => purge(on, name)),
      async keep(queues) {
        const counts = await countsOf(link, endpoint, queues)
        await held(async () => kept.keep(queues.filter((name) => (counts.get(name) ?? null) !== null)))
      },
      kept: () => kept.kept(),
      heldBack: async (queue) => kept.heldBack(queue),
      release: async (queue) => held(async () => kept.release(queue)),
      async mover() {
        moving ??= import('../messages/index.ts').then(async ({ openMessageMover }) =>
          openMessageMover(endpoint, { timeoutMs }),
        )
        try {
          return (await moving).source
        } catch (error) {
          moving = null
          throw error
        }
      },
    },
    async close() {
      const mover = await moving?.catch(() => null)
      await Promise.all([link.close(), kept.close(), mover?.close()])
    },
  }
}

async function bindAll({ link, endpoint }: On, bindings: readonly Binding[]): Promise<void> {
  await link.each<Binding, void>(
    bindings,
    async (channel, binding) => bindOne(channel, binding),
    (reply, binding) => {
      throw refusal(reply, endpoint, `binding ${inWords(binding)}`)
    },
  )
}

async function unbindAll({ link, endpoint }: On, bindings: readonly Binding[]): Promise<void> {
  await link.each<Binding, void>(
    bindings,
    async (channel, binding) => {
      for (const given of typedInEachWay(binding.arguments)) await unbindOne(channel, binding, given)
    },
    (reply: Reply, binding) => {
      // if one of its ends is missing, so is the binding
      if (reply.code !== 404) throw refusal(reply, endpoint, `unbinding ${inWords(binding)}`)
    },
  )
}

async function bindOne(
  channel: Channel,
  { source, destination, destinationKind, routingKey, arguments: given, typed: known }: Binding,
): Promise<void> {
  const typed = known ? withBytes(known) : typedArguments(given)
  if (destinationKind === 'queue') await channel.bindQueue(destination, source, routingKey, typed)
  else await channel.bindExchange(destination, source, routingKey, typed)
}

async function unbindOne(
  channel: Channel,
  { source, destination, destinationKind, routingKey }: Binding,
  given: Record<string, unknown>,
): Promise<void> {
  if (destinationKind === 'queue') await channel.unbindQueue(destination, source, routingKey, given)
  else await channel.unbindExchange(destination, source, routingKey, given)
}

function inWords({ source, destination, destinationKind, routingKey }: Binding): string {
  return `${destinationKind} ${destination} to exchange ${source}${routingKey === '' ? '' : ` with key ${routingKey}`}`
}

async function declareExchange({ link, endpoint }: On, exchange: ExchangeDeclaration): Promise<Declared> {
  const { name, type, durable, autoDelete, internal, arguments: given } = exchange
  const [declared = 'otherwise'] = await link.each<ExchangeDeclaration, Declared>(
    [exchange],
    async (channel) => {
      await channel.assertExchange(name, type, { durable, autoDelete, internal, arguments: typedArguments(given) })
      return 'declared'
    },
    (reply) => {
      if (reply.code === 406 && reply.text.startsWith('inequivalent arg')) return 'otherwise'
      throw refusal(reply, endpoint, `declaring exchange ${name}`)
    },
  )
  return declared
}

async function deleteExchange({ link, endpoint }: On, name: string): Promise<void> {
  await link.each<string, void>(
    [name],
    async (channel) => void (await channel.deleteExchange(name)),
    (reply) => {
      if (reply.code !== 404) throw refusal(reply, endpoint, `deleting exchange ${name}`)
    },
  )
}

/**
 * Tries rights by requests that change nothing, or that the broker refuses for another reason: it checks rights first.
 * Throws FORBIDDEN for the first that is missing.
 */
async function tryRights(on: On, { queues, exchanges, bindings, discards = false }: Trial): Promise<void> {
  await each(on, queues, 'declaring queue', async (channel, { name, durable, autoDelete, arguments: given }) =>
    channel.assertQueue(name, { durable, autoDelete, arguments: typedArguments(given) }),
  )
  // declaring a queue that sends dead letters requires the right to read it
  await each(
    on,
    discards ? queues.filter((it) => namedDeadLetterExchange(it) !== null) : queues,
    'reading queue',
    async (channel, { name }) => consumeNothing(channel, name),
  )
  await each(on, discards ? [] : queues.slice(0, 1), 'moving messages aside from queue', async (channel, { name }) => {
    channel.publish('', nowhere, Buffer.alloc(0))
    // its answer comes after a refusal of the publish
    await channel.checkQueue(name)
  })
  await each(
    on,
    exchanges,
    'declaring exchange',
    async (channel, { name, type, durable, autoDelete, internal, arguments: given }) =>
      channel.assertExchange(name, type, { durable, autoDelete, internal, arguments: typedArguments(given) }),
  )
  // removing a missing binding succeeds, and requires the same rights as making it
  const deadLetters = new Set(queues.map(namedDeadLetterExchange).filter((name) => name !== null))
  const exchangesTo = [...deadLetters].map((name) =>
    named({ source: name, destination: name, destinationKind: 'exchange' }),
  )
  await each(on, exchangesTo, 'sending dead letters to exchange', unbindNothing)
  await each(on, distinct(bindings).map(named), 'making bindings to', unbindNothing)
}

function named(ends: Ends): Ends & { name: string } {
  return { ...ends, name: ends.destination }
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
      if (error.code === 'FORBIDDEN' && !isOfUnusedKey(reply)) throw error
    },
  )
}
