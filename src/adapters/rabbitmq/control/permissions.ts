import type { Channel } from 'amqplib'
import type {
  Binding,
  BrokerControl,
  ExchangeDeclaration,
  LackedPermission,
  PermissionAnswer,
} from '../../../core/broker-control.ts'
import {
  alternateExchange,
  namedDeadLetterExchange,
  namelessExchange,
  nowhere,
  trialExchange,
} from '../../../knowledge/broker.ts'
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

/** The permission that is missing (of two, one of them); null: none */
type Told = readonly LackedPermission[] | null

/**
 * Does what `BrokerControl.lackedPermission` describes. Throws as `Link.each` does.
 *
 * RabbitMQ 4 closes the connection with 541 instead of refusing a request, whatever the reason, if the text of the
 * refusal takes more than 255 bytes: it cuts the text to 255 characters (measured on 4.0.5 and 4.3.6;
 * `rabbit_binary_generator`). So a request that cannot succeed tells nothing about such a name; one that can succeed
 * does.
 */
export async function lackedPermission(link: Link, of: Wanted): Promise<PermissionAnswer> {
  const unanswered: LackedPermission[] = []
  // an alarm of the broker blocks a connection from its first publish
  for (const questions of [quietQuestions(of), publishing(of)]) {
    const told = await asked(link, questions)
    const lacked = told.find((it) => it !== null && it !== 'unanswered')
    if (lacked) return { lacked: await oneOf(link, lacked), unanswered: [] }
    unanswered.push(...questions.flatMap(({ checked }, index) => (told[index] === 'unanswered' ? checked : [])))
  }
  return { lacked: null, unanswered }
}

async function asked(link: Link, questions: readonly Question[]): Promise<(Told | 'unanswered')[]> {
  return eachAnswered<Question, Told>(
    link,
    questions,
    async (channel, { send }) => {
      await send(channel)
      return null
    },
    (reply, { checked }) => toldBy(reply, checked),
  )
}

/**
 * Asks as `Link.each` does. `unanswered`: the broker closed the connection instead. That takes the answers to all
 * others with it, so each is asked again alone. Each costs a connection, so after `mostAsked` the rest stays
 * unanswered.
 */
export async function eachAnswered<Item, Result>(
  link: Link,
  items: readonly Item[],
  work: (channel: Channel, item: Item) => Promise<Result>,
  settle: (reply: Reply, item: Item) => Result,
): Promise<(Result | 'unanswered')[]> {
  const ask = async (some: readonly Item[]): Promise<(Result | 'unanswered')[]> =>
    link.each<Item, Result | 'unanswered'>(some, work, (reply, item) =>
      isOfConnection(reply) ? 'unanswered' : settle(reply, item),
    )
  const results = await ask(items)
  let left = mostAsked
  for (const [index, item] of items.entries()) {
    if (results[index] !== 'unanswered' || left === 0) continue
    const [alone = 'unanswered'] = await ask([item])
    if (alone === 'unanswered') left -= 1
    results[index] = alone
  }
  return results
}

/** Before 4.0, the broker does not say which permission it means: it is asked for the one that it checks first. */
async function oneOf(link: Link, [first, second]: readonly LackedPermission[]): Promise<LackedPermission | null> {
  if (first === undefined || second === undefined) return first ?? null
  const [told] = await asked(link, [writeAlone(first)])
  return told === null ? second : first
}

function quietQuestions(of: Wanted): Question[] {
  const { queues, exchanges, bindings, holding, discards = false } = of
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
    ...(movesMessages(of) ? [configureExchange(trialExchange)] : []),
    ...exchanges.slice(0, mostAsked).map(({ name }) => configureExchange(name)),
    ...toAlternates(exchanges.slice(0, mostAsked)).map(bind),
    ...[...deadLetters].map((name) => bind({ source: name, destination: name, destinationKind: 'exchange' })),
    ...distinct(bindings).slice(0, mostAsked).map(bind),
  ]
}

function publishing(of: Wanted): Question[] {
  return movesMessages(of) ? ['', trialExchange].map(publish) : []
}

function movesMessages({ queues, holding, discards = false }: Wanted): boolean {
  return !discards && queues.length + holding.length > 0
}

/** No queue can have such a length, whether or not the queue exists. */
function configureQueue(name: string): Question {
  return {
    checked: [permission('configure', 'queue', name)],
    send: async (channel) => channel.assertQueue(name, { durable: true, arguments: { 'x-max-length': -1 } }),
  }
}

/** No exchange can have such an alternate. The type is a known one: for others, RabbitMQ 3 closes the connection. */
function configureExchange(name: string): Question {
  return {
    checked: [permission('configure', 'exchange', name)],
    send: async (channel) =>
      channel.assertExchange(name, 'direct', { durable: true, arguments: { 'alternate-exchange': 5 } }),
  }
}

/** The priority of a consumer must be a number. */
function readQueue(name: string): Question {
  return {
    checked: [permission('read', 'queue', name)],
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

/** Returns bindings that require the same permissions as to declare these exchanges with their alternate exchanges. */
export function toAlternates(exchanges: readonly ExchangeDeclaration[]): Ends[] {
  return exchanges.flatMap((exchange) => {
    const destination = alternateExchange(exchange)
    return destination === null ? [] : [{ source: exchange.name, destination, destinationKind: 'exchange' }]
  })
}

/** Removing a missing binding succeeds, and requires the same permissions as making it. */
function bind(binding: Ends): Question {
  return { checked: permissionsFor(binding), send: async (channel) => unbindNothing(channel, binding) }
}

/** Returns the permissions that a binding requires, in the order in which RabbitMQ checks them. */
export function permissionsFor({
  source,
  destination,
  destinationKind,
  routingKey = nowhere,
}: Ends): [LackedPermission, ...LackedPermission[]] {
  return [
    permission('write', destinationKind, destination),
    permission('read', 'exchange', source),
    // nobody needs that key
    ...(routingKey === nowhere ? [] : [topicPermission({ source, routingKey })]),
  ]
}

/** Returns the permission to bind that key, which RabbitMQ checks if the exchange is a topic exchange. */
export function topicPermission({ source, routingKey }: Pick<Binding, 'source' | 'routingKey'>): LackedPermission {
  return { right: 'read', object: `topic '${routingKey}' in exchange '${source}'`, topicOf: source }
}

export function permission(
  right: LackedPermission['right'],
  kind: 'queue' | 'exchange',
  name: string,
): LackedPermission {
  return { right, object: `${kind} '${kind === 'exchange' && name === '' ? namelessExchange : name}'` }
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
    checked: [permission('write', 'exchange', exchange)],
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
  if (isOfUnusedKey(reply)) return null
  // before 4.0, the broker does not name the permission
  const [, right, kind] =
    (reply.code === 403 && /^(?:(configure|write|read) )?access to (queue|exchange|topic) /.exec(reply.text)) || []
  if (kind === undefined) return null
  if (checked.length === 1) return checked
  const meant = checked.filter((it) => it.object.startsWith(`${kind} `) && (right ?? it.right) === it.right)
  return meant.length > 0 ? meant : checked
}
