import type { Channel } from 'amqplib'
import type { Binding, BrokerControl, LackedPermission, QueueDeclaration, Trial } from '../../../core/broker-control.ts'
import { namelessExchange, nowhere, trialExchange } from '../../../knowledge/broker.ts'
import type { Link } from '../link.ts'
import type { Reply } from '../refusal.ts'
import { deadLetterExchange } from './queues.ts'

/** A request that changes nothing, and the permissions that RabbitMQ checks before anything else. */
interface Question {
  /** In the order in which they are checked */
  checked: readonly LackedPermission[]
  send: (channel: Channel) => Promise<unknown>
}

type Wanted = Parameters<BrokerControl['lackedPermission']>[0]

/** What a binding connects. */
export type Ends = Pick<Binding, 'source' | 'destination' | 'destinationKind'>

/** Most names of a kind that are asked for: RabbitMQ logs each request that it refuses */
const mostAsked = 20

/** Does what `BrokerControl.lackedPermission` describes. Throws as `Link.each` does. */
export async function lackedPermission(link: Link, of: Wanted): Promise<LackedPermission | null> {
  // an alarm of the broker blocks a connection from its first publish
  for (const questions of [quietQuestions(of), publishing(of)]) {
    const lacked = await link.each<Question, LackedPermission | null>(
      questions,
      async (channel, { send }) => {
        await send(channel)
        return null
      },
      (reply, { checked }) => lackedIn(reply, checked),
    )
    const first = lacked.find((it) => it !== null)
    if (first) return first
  }
  return null
}

function quietQuestions({ queues, exchanges, bindings, holding, discards = false }: Wanted): Question[] {
  const names = queues.slice(0, mostAsked).map(({ name }) => name)
  const sending = queues.slice(0, mostAsked).filter((it) => deadLetterExchange(it) !== null)
  const moved = discards ? [] : names
  // their names differ only in what the other questions name too
  const held = holding.slice(0, 1)
  const ends = new Map(bindings.map((it) => [JSON.stringify([it.source, it.destinationKind, it.destination]), it]))
  return [
    ...names.map(configureQueue),
    ...(discards ? sending.map(({ name }) => name) : names).map(readQueue),
    ...held.flatMap((name) => [configureQueue(name), readQueue(name)]),
    ...[...moved, ...held].map((name) => bind({ source: trialExchange, destination: name, destinationKind: 'queue' })),
    ...(moved.length > 0 ? [configureExchange(trialExchange)] : []),
    ...exchanges.slice(0, mostAsked).map(({ name }) => configureExchange(name)),
    ...sending.map(readDeadLetters),
    ...[...ends.values()].slice(0, mostAsked).map(bind),
  ]
}

function publishing({ queues, discards = false }: Trial): Question[] {
  const deadLetters = queues.slice(0, mostAsked).flatMap((it) => deadLetterExchange(it) ?? [])
  const moving = discards || queues.length === 0 ? [] : ['', trialExchange]
  return [...new Set([...moving, ...deadLetters])].map(publish)
}

/** No queue can have such a length, whether or not the queue exists. */
function configureQueue(name: string): Question {
  return {
    checked: [{ right: 'configure', object: `queue '${name}'` }],
    send: async (channel) => channel.assertQueue(name, { durable: true, arguments: { 'x-max-length': -1 } }),
  }
}

/** No exchange can have such an alternate. The type is a known one: for others, RabbitMQ 3 closes the connection. */
function configureExchange(name: string): Question {
  return {
    checked: [{ right: 'configure', object: `exchange '${name}'` }],
    send: async (channel) =>
      channel.assertExchange(name, 'direct', { durable: true, arguments: { 'alternate-exchange': 5 } }),
  }
}

/** The priority of a consumer must be a number. */
function readQueue(name: string): Question {
  return {
    checked: [{ right: 'read', object: `queue '${name}'` }],
    send: async (channel) => consumeNothing(channel, name),
  }
}

/** Tries to consume in a way that RabbitMQ always refuses, after it has checked the right to read. */
export async function consumeNothing(channel: Channel, name: string): Promise<void> {
  const { consumerTag } = await channel.consume(name, () => undefined, { arguments: { 'x-priority': 'none' } })
  await channel.cancel(consumerTag)
}

/** Removing a missing binding succeeds, and requires the same permissions as making it. */
function bind(binding: Ends): Question {
  const { source, destination, destinationKind } = binding
  return {
    checked: [
      { right: 'write', object: `${destinationKind} '${destination}'` },
      { right: 'read', object: `exchange '${source}'` },
    ],
    send: async (channel) => unbindNothing(channel, binding),
  }
}

/** The queue is only the other end: a refusal that names it tells nothing here. */
function readDeadLetters(queue: QueueDeclaration): Question {
  const ends = { source: deadLetterExchange(queue) ?? '', destination: queue.name, destinationKind: 'queue' } as const
  return {
    checked: [{ right: 'read', object: `exchange '${ends.source}'` }],
    send: async (channel) => unbindNothing(channel, ends),
  }
}

/** Removes a binding that nobody makes. */
export async function unbindNothing(channel: Channel, { source, destination, destinationKind }: Ends): Promise<void> {
  await (destinationKind === 'queue'
    ? channel.unbindQueue(destination, source, nowhere)
    : channel.unbindExchange(destination, source, nowhere))
}

/** No message can expire like this, so it gets nowhere. */
function publish(exchange: string): Question {
  return {
    checked: [{ right: 'write', object: `exchange '${exchange === '' ? namelessExchange : exchange}'` }],
    async send(channel) {
      channel.publish(exchange, nowhere, Buffer.alloc(0), { expiration: 'none' })
      // its answer comes after a refusal of the publish
      await channel.checkQueue(nowhere)
    },
  }
}

/** Returns the permission that a refusal names; null: the request was refused for another reason. */
function lackedIn({ code, text }: Reply, checked: readonly LackedPermission[]): LackedPermission | null {
  // before 4.0, the broker does not name the permission
  const [, said, named] = (code === 403 && /^(?:(configure|write|read) )?access to ([^]*)$/.exec(text)) || []
  if (named === undefined) return null
  return (
    checked.find(
      // a long name is cut off
      ({ right, object }) => (said ?? right) === right && (named.startsWith(`${object} `) || object.startsWith(named)),
    ) ?? null
  )
}
