import { isDeepStrictEqual } from 'node:util'
import { counted } from '../../../core/format.ts'
import type { BrokerQueue, BrokerSource } from '../../../core/sources.ts'
import type { ExchangeDeclaration, QueueDeclaration } from '../../../core/topology.ts'
import { alwaysDurable, isDroppedArgument } from '../../../knowledge/broker.ts'
import { progressOf } from '../../../core/run-state.ts'
import { hasBegun } from '../stages.ts'
import { isSameQueue, stepOf, vanishes } from './parts.ts'
import type { Live, Parts } from './parts.ts'

/** True if a queue or an exchange of the record is missing from the broker. */
export function isAnyGone({ names, exchanges }: Parts, live: Live): boolean {
  return names.some((name) => !live.queues.has(name)) || exchanges.some(({ from }) => !live.exchanges.has(from.name))
}

/** Returns how the record's queues differ from the broker's. `stands`: traces of the run remain. */
export function unfitLiveQueues(parts: Parts, live: Live, stands: boolean): string[] {
  return parts.former.flatMap(({ queue }) => {
    const there = live.queues.get(queue.name)
    const unfit = there ? ofThere(queue, there, parts) : ofGone(queue, parts, stands)
    return [...ofDropped(queue, parts, live), ...unfit]
  })
}

function ofGone(queue: QueueDeclaration, { plan, stages, history }: Parts, stands: boolean): string[] {
  const isExpected = stages.delete.at !== 'before' || (vanishes(queue) && hasBegun(history))
  if (!isExpected) return [`queue ${queue.name} is missing, but the record has not deleted it yet`]
  if (!stands) return [`queue ${queue.name} is missing, and nothing shows that it ever existed`]
  const isDeclared =
    stages.redeclare.at === 'after' &&
    stepOf(plan, 'redeclare-queues')?.queues.some((it) => it.always && it.queue.name === queue.name)
  return isDeclared && !vanishes(queue) ? [`queue ${queue.name} is missing, but the record has declared it again`] : []
}

/** Returns how an existing queue differs from both its former and its planned declaration. */
function ofThere(queue: QueueDeclaration, there: BrokerQueue, { plan, stages }: Parts): string[] {
  const unlike = [`queue ${queue.name} is not declared as the record says`]
  if (there.exclusive) return unlike
  if (!there.durable) {
    const [recorded, found] = [queue, there].map(({ name, durable, autoDelete, arguments: values }) => ({
      name,
      durable,
      autoDelete,
      arguments: plainly(values),
    }))
    return isSameQueue(recorded!, found!) ? [] : unlike
  }
  if (stages.delete.at === 'before') return [`queue ${queue.name} is durable, but the record has not deleted it yet`]
  const anew = stepOf(plan, 'redeclare-queues')?.queues.find((it) => it.queue.name === queue.name)?.queue
  const isIt =
    anew !== undefined &&
    there.autoDelete === anew.autoDelete &&
    !alwaysDurable.includes(there.type) &&
    holdsAll(there.arguments, plainly(anew.arguments))
  return isIt ? [] : [`queue ${queue.name} is durable, but not declared as in the record`]
}

/** True if all wanted arguments exist: a service that started since may have declared more. */
function holdsAll(values: QueueDeclaration['arguments'], wanted: QueueDeclaration['arguments']): boolean {
  return Object.entries(wanted).every(
    ([name, value]) => Object.hasOwn(values, name) && isDeepStrictEqual(values[name], value),
  )
}

/** Returns arguments that the record leaves out although this broker accepts them. */
function ofDropped({ name, arguments: values }: QueueDeclaration, { plan }: Parts, { version }: Live): string[] {
  const anew = stepOf(plan, 'redeclare-queues')?.queues.find(({ queue }) => queue.name === name)?.queue.arguments ?? {}
  const dropped = Object.entries(values).find(
    ([key, value]) => !Object.hasOwn(anew, key) && !isDroppedArgument(version, key, value),
  )
  return dropped ? [`it declares queue ${name} without its ${dropped[0]}`] : []
}

/** Returns the arguments without the type that RabbitMQ 4 shows although nobody named it (FIELD-NOTES.md 3). */
function plainly(values: QueueDeclaration['arguments']): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).filter(([name, value]) => !(name === 'x-queue-type' && value === 'classic')),
  )
}

/** Returns how the record's exchanges differ from the broker's. */
export function unfitLiveExchanges({ exchanges, stages, history }: Parts, live: Live, stands: boolean): string[] {
  return exchanges.flatMap(({ from }) => {
    const there = live.exchanges.get(from.name)
    if (there) {
      if (!isSameExchange(from, there)) return [`exchange ${from.name} is not declared as the record says`]
      return there.durable && stages.switch.at === 'before'
        ? [`exchange ${from.name} is durable, but the record has not declared it again yet`]
        : []
    }
    // the broker deletes an auto-delete exchange with the last queue that is bound to it
    const isExpected = stages.switch.at === 'within' || (from.autoDelete && hasBegun(history))
    if (!isExpected) return [`exchange ${from.name} is missing, but the record has not deleted it`]
    return stands ? [] : [`exchange ${from.name} is missing, and nothing shows that it ever existed`]
  })
}

/** True if both are the same exchange, apart from `durable`. */
function isSameExchange(one: ExchangeDeclaration, other: ExchangeDeclaration): boolean {
  return (
    one.type === other.type &&
    one.autoDelete === other.autoDelete &&
    one.internal === other.internal &&
    isDeepStrictEqual({ ...one.arguments }, { ...other.arguments })
  )
}

/** Checks that the record deletes no more messages than exist; compares only while all queues still exist. */
export async function unfitLoss(
  { plan, former, names, discards, history }: Parts,
  { queues }: Live,
  broker: BrokerSource,
): Promise<string[]> {
  // discarded messages do not come back with their queue
  if (!discards || progressOf(history.events).isGoingBack) return []
  if (!former.every(({ queue }) => queues.get(queue.name)?.durable === false)) return []
  const counts = await broker.counts(names)
  const now = names.reduce(
    (sum, name) => sum + Math.max(queues.get(name)?.messages ?? 0, counts.get(name)?.ready ?? 0),
    0,
  )
  const { messages } = stepOf(plan, 'delete-queues')!.counts
  return messages > now ? [`it deletes up to ${counted(messages, 'message')}, but its queues hold ${now}`] : []
}
