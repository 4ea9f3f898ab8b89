import { listed } from '../../core/format.ts'
import type { BrokerExchange, BrokerPolicy, BrokerQueue } from '../../core/sources.ts'
import type { Binding } from '../../core/topology.ts'
import { deadLetterExchangeOf } from '../../knowledge/broker.ts'

/** What decides where dead letters go in a virtual host. `policies`: those that this user may see. */
export interface DeadLetterWays {
  all: readonly BrokerQueue[]
  exchanges: readonly BrokerExchange[]
  bindings: readonly Binding[]
  policies: readonly BrokerPolicy[]
}

/** Queues that dead letters of this queue certainly go to, as far as the routing key alone decides. */
export function deadLettersOf({ name, arguments: values }: BrokerQueue, bindings: readonly Binding[]): string[] {
  const { 'x-dead-letter-exchange': exchange, 'x-dead-letter-routing-key': key } = values
  if (typeof exchange !== 'string') return []
  if (exchange === '') return [typeof key === 'string' ? key : name]
  return bindings
    .filter((it) => it.source === exchange && it.destinationKind === 'queue' && it.routingKey === key)
    .map((it) => it.destination)
}

/** Those of `queues` that dead letters may go to, each with the queues that they come from. */
export function deadLettersTo(
  queues: ReadonlySet<string>,
  ways: DeadLetterWays,
): ReadonlyMap<string, readonly string[]> {
  const from = new Map<string, string[]>()
  for (const queue of ways.all) {
    for (const target of mayReach(queue, ways))
      if (target !== queue.name && queues.has(target)) from.set(target, [...(from.get(target) ?? []), queue.name])
  }
  return from
}

/**
 * Queues that dead letters of this queue may reach, whatever routing key, header or exchange type decides: one too many
 * does no harm.
 */
function mayReach(queue: BrokerQueue, { all, exchanges, bindings, policies }: DeadLetterWays): ReadonlySet<string> {
  const first = deadLetterExchangeOf(queue, policies)
  if (first === null) return new Set()
  const key = queue.arguments['x-dead-letter-routing-key']
  // without a key of its own, a message keeps the one that it came with
  if (first === '') return new Set(typeof key === 'string' ? [key] : all.map(({ name }) => name))
  const alternates = new Map(exchanges.map(({ name, arguments: values }) => [name, values['alternate-exchange']]))
  const reached = new Set<string>()
  const passed = new Set([first])
  // the loop also visits what it adds
  for (const exchange of passed) {
    const alternate = alternates.get(exchange)
    if (typeof alternate === 'string') passed.add(alternate)
    for (const { destination, destinationKind } of bindings.filter(({ source }) => source === exchange))
      (destinationKind === 'queue' ? reached : passed).add(destination)
  }
  return reached
}

/**
 * Dead letters that are lost while their queues are deleted, because a queue outside `queues` keeps sending them; null:
 * none.
 */
export function lossOfDeadLetters(
  queues: readonly string[],
  deadLettered: ReadonlyMap<string, readonly string[]>,
): string | null {
  const isOther = (name: string): boolean => !queues.includes(name)
  const targets = [...deadLettered].filter(([, from]) => from.some(isOther)).map(([name]) => name)
  if (targets.length === 0) return null
  const senders = [...new Set([...deadLettered.values()].flat())].filter(isOther)
  return `dead letters from ${listed(senders)} to ${listed(targets)}, until ${targets.length === 1 ? 'that queue is' : 'those queues are'} redeclared`
}
