import type { Channel } from 'amqplib'
import type { Binding, BrokerControl, LackedPermission, Trial } from '../../../core/broker-control.ts'
import { AdminError } from '../../../core/error.ts'
import { namedDeadLetterExchange, namelessExchange, nowhere, trialExchange } from '../../../knowledge/broker.ts'
import type { Link } from '../link.ts'
import { isOfConnection } from '../refusal.ts'
import type { Reply } from '../refusal.ts'

/** A request that changes nothing, and the permissions that RabbitMQ checks before anything else. */
interface Question {
  /** In the order in which they are checked */
  checked: readonly [LackedPermission, ...LackedPermission[]]
  send: (channel: Channel) => Promise<unknown>
}

type Wanted = Parameters<BrokerControl['lackedPermission']>[0]

/** What a binding connects, and for which messages; by default, for those that nobody sends. */
export type Ends = Pick<Binding, 'source' | 'destination' | 'destinationKind'> & { routingKey?: string }

/** Most names of a kind that are asked for: RabbitMQ logs each request that it refuses */
const mostAsked = 20

/** What a question came to: the permission that is missing (of two, one of them); null: none */
type Told = readonly LackedPermission[] | 'unanswered' | null

/**
 * Does what `BrokerControl.lackedPermission` describes. Throws as `Link.each` does, and REFUSED if the broker closes
 * the connection instead of answering, unless another answer tells of a missing permission.
 */
export async function lackedPermission(link: Link, of: Wanted): Promise<LackedPermission | null> {
  let unanswered: Question | null = null
  // an alarm of the broker blocks a connection from its first publish
  for (const questions of [quietQuestions(of), publishing(of)]) {
    const told = await asked(link, questions)
    const [lacked] = told.filter(isLacking)
    if (lacked) return oneOf(link, lacked)
    // a request that closes the connection takes the answers to all others with it, so each is asked again alone
    for (const question of questions.filter((_, index) => told[index] === 'unanswered')) {
      const [again = null] = await asked(link, [question])
      if (isLacking(again)) return oneOf(link, again)
      if (again === 'unanswered') unanswered ??= question
    }
  }
  if (unanswered === null) return null
  const [{ right, object }] = unanswered.checked
  throw new AdminError(
    'REFUSED',
    `RabbitMQ closes the connection when it is asked for the ${right} permission on ${object}`,
  )
}

function isLacking(told: Told): told is readonly LackedPermission[] {
  return told !== null && told !== 'unanswered'
}

async function asked(link: Link, questions: readonly Question[]): Promise<Told[]> {
  return link.each<Question, Told>(
    questions,
    async (channel, { send }) => {
      await send(channel)
      return null
    },
    (reply, { checked }) => toldBy(reply, checked),
  )
}

/** Before 4.0, the broker does not say which permission it means: it is asked for the one that it checks first. */
async function oneOf(link: Link, [first, second]: readonly LackedPermission[]): Promise<LackedPermission | null> {
  if (first === undefined || second === undefined) return first ?? null
  const [told] = await asked(link, [writeAlone(first)])
  return told === null ? second : first
}

function quietQuestions({ queues, exchanges, bindings, holding, discards = false }: Wanted): Question[] {
  const names = queues.slice(0, mostAsked).map(({ name }) => name)
  const sending = queues.slice(0, mostAsked).filter((it) => namedDeadLetterExchange(it) !== null)
  const moved = discards ? [] : names
  const held = holding.slice(0, mostAsked)
  const deadLetters = new Set(sending.map(namedDeadLetterExchange).filter((name) => name !== null))
  return [
    ...names.map(configureQueue),
    ...(discards ? sending.map(({ name }) => name) : names).map(readQueue),
    ...held.flatMap((name) => [configureQueue(name), readQueue(name)]),
    ...[...moved, ...held].map((name) => bind({ source: trialExchange, destination: name, destinationKind: 'queue' })),
    ...(moved.length > 0 ? [configureExchange(trialExchange)] : []),
    ...exchanges.slice(0, mostAsked).map(({ name }) => configureExchange(name)),
    ...[...deadLetters].map((name) => bind({ source: name, destination: name, destinationKind: 'exchange' })),
    ...distinct(bindings).slice(0, mostAsked).map(bind),
  ]
}

function publishing({ queues, discards = false }: Trial): Question[] {
  return discards || queues.length === 0 ? [] : ['', trialExchange].map(publish)
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

/** Returns bindings that need different permissions. All that connect something else come first. */
export function distinct(bindings: readonly Binding[]): Binding[] {
  const endsOf = (it: Binding): string => JSON.stringify([it.source, it.destinationKind, it.destination])
  const byEnds = new Map(bindings.map((it) => [endsOf(it), it]))
  const byKey = new Map(bindings.map((it) => [`${endsOf(it)}${it.routingKey}`, it]))
  return [...new Set([...byEnds.values(), ...byKey.values()])]
}

/** Removing a missing binding succeeds, and requires the same permissions as making it. */
function bind(binding: Ends): Question {
  const { source, destination, destinationKind, routingKey } = binding
  return {
    checked: [
      { right: 'write', object: `${destinationKind} '${destination}'` },
      { right: 'read', object: `exchange '${source}'` },
      ...(routingKey === undefined
        ? []
        : [{ right: 'read', object: `topic '${routingKey}' in exchange '${source}'`, topicOf: source } as const]),
    ],
    send: async (channel) => unbindNothing(channel, binding),
  }
}

/** Asks only for the right to write: RabbitMQ then refuses the nameless exchange before it looks at it as a source. */
function writeAlone(lacked: LackedPermission): Question {
  const [, destination = ''] = /^exchange '([^]*)'$/.exec(lacked.object) ?? []
  return {
    checked: [lacked],
    send: async (channel) => unbindNothing(channel, { source: '', destination, destinationKind: 'exchange' }),
  }
}

/** Removes a binding that nobody makes: its key may be in use, its argument is not. */
export async function unbindNothing(
  channel: Channel,
  { source, destination, destinationKind, routingKey = nowhere }: Ends,
): Promise<void> {
  const unused = { [nowhere]: true }
  await (destinationKind === 'queue'
    ? channel.unbindQueue(destination, source, routingKey, unused)
    : channel.unbindExchange(destination, source, routingKey, unused))
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

/** True if only the routing key that nobody uses is refused, which is checked last: no permission is missing. */
export function isOfUnusedKey({ code, text }: Reply): boolean {
  return code === 403 && text.includes(`access to topic '${nowhere}' in exchange `)
}

/**
 * Returns the missing permission, or both if the refusal does not say which; null: the request was refused for another
 * reason, so none is missing. The name in a refusal decides nothing: RabbitMQ cuts long ones.
 */
function toldBy(reply: Reply, checked: Question['checked']): Told {
  if (isOfConnection(reply)) return 'unanswered'
  if (isOfUnusedKey(reply)) return null
  // before 4.0, the broker does not name the permission
  const [, right, kind] =
    (reply.code === 403 && /^(?:(configure|write|read) )?access to (queue|exchange|topic) /.exec(reply.text)) || []
  if (kind === undefined) return null
  if (checked.length === 1) return checked
  const meant = checked.filter((it) => it.object.startsWith(`${kind} `) && (right ?? it.right) === it.right)
  return meant.length > 0 ? meant : checked
}
