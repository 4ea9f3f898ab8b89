import type {
  Binding,
  BrokerControl,
  Declared,
  ExchangeDeclaration,
  LackedPermission,
  Trial,
} from '../../../core/broker-control.ts'
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
import {
  consumeNothing,
  distinct,
  eachAnswered,
  isOfUnusedKey,
  lackedPermission,
  permission,
  permissionsFor,
  toAlternates,
  topicPermission,
  unbindNothing,
} from './permissions.ts'
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
  // a question that closes the connection takes along the answers to all others
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = async <T>(ask: () => Promise<T>): Promise<T> => {
    const turn = last.then(ask)
    last = turn.catch(() => undefined)
    return turn
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
      tryRights: async (of) => inTurn(async () => held(async () => tryRights(on, of))),
      lackedPermission: async (of) => inTurn(async () => lackedPermission(link, of)),
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
      throw refusal(reply, endpoint, `binding ${inWords(binding)}`, [topicPermission(binding)])
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
      if (reply.code !== 404)
        throw refusal(reply, endpoint, `unbinding ${inWords(binding)}`, [topicPermission(binding)])
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
 * Throws FORBIDDEN for the first that is missing. Returns those about which the broker gives no answer.
 */
async function tryRights(
  on: On,
  { queues, exchanges, bindings, discards = false }: Trial,
): Promise<readonly LackedPermission[]> {
  const declared = await each(on, queues, {
    doing: ({ name }) => `declaring queue ${name}`,
    needs: ({ name }) => [permission('configure', 'queue', name)],
    work: async (channel, { name, durable, autoDelete, arguments: given }) =>
      channel.assertQueue(name, { durable, autoDelete, arguments: typedArguments(given) }),
  })
  // declaring a queue that sends dead letters requires the right to read it
  const read = await each(on, discards ? queues.filter((it) => namedDeadLetterExchange(it) !== null) : queues, {
    doing: ({ name }) => `reading queue ${name}`,
    needs: ({ name }) => [permission('read', 'queue', name)],
    work: async (channel, { name }) => consumeNothing(channel, name),
  })
  const moved = await each(on, discards ? [] : queues.slice(0, 1), {
    doing: ({ name }) => `moving messages aside from queue ${name}`,
    needs: () => [permission('write', 'exchange', '')],
    async work(channel, { name }) {
      channel.publish('', nowhere, Buffer.alloc(0))
      // its answer comes after a refusal of the publish
      await channel.checkQueue(name)
    },
  })
  const redeclared = await each(on, exchanges, {
    doing: ({ name }) => `declaring exchange ${name}`,
    needs: ({ name }) => [permission('configure', 'exchange', name)],
    work: async (channel, { name, type, durable, autoDelete, internal, arguments: given }) =>
      channel.assertExchange(name, type, { durable, autoDelete, internal, arguments: typedArguments(given) }),
  })
  // removing a missing binding succeeds, and requires the same rights as making it
  const deadLetters = new Set(queues.map(namedDeadLetterExchange).filter((name) => name !== null))
  const fed = await each<Ends>(
    on,
    [...deadLetters].map((name) => ({ source: name, destination: name, destinationKind: 'exchange' })),
    {
      doing: ({ destination }) => `sending dead letters to exchange ${destination}`,
      needs: permissionsFor,
      work: unbindNothing,
    },
  )
  const passedOn = await each(on, toAlternates(exchanges), {
    doing: ({ source }) => `declaring exchange ${source} with its alternate exchange`,
    needs: permissionsFor,
    work: unbindNothing,
  })
  const bound = await each(on, distinct(bindings), {
    doing: ({ destination }) => `making bindings to ${destination}`,
    needs: permissionsFor,
    work: unbindNothing,
  })
  return [declared, read, moved, redeclared, fed, passedOn, bound].flat()
}

/** A way to try a right. */
interface Try<Item> {
  doing: (item: Item) => string
  /** What the broker checks, in this order */
  needs: (item: Item) => readonly LackedPermission[]
  work: (channel: Channel, item: Item) => Promise<unknown>
}

/** Tries each. Returns the permissions for which the broker closes the connection instead of answering. */
async function each<Item>(
  { link, endpoint }: On,
  all: readonly Item[],
  { doing, needs, work }: Try<Item>,
): Promise<LackedPermission[]> {
  const told = await eachAnswered<Item, null>(
    link,
    all,
    async (channel, item) => {
      await work(channel, item)
      return null
    },
    (reply, item) => {
      const error = refusal(reply, endpoint, doing(item), needs(item))
      if (error.code === 'FORBIDDEN' && !isOfUnusedKey(reply)) throw error
      return null
    },
  )
  return all.filter((_, index) => told[index] === 'unanswered').flatMap(needs)
}
