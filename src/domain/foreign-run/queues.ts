import { isDeepStrictEqual } from 'node:util'
import type { Binding, ExchangeDeclaration, QueueDeclaration } from '../../core/broker-control.ts'
import { counted } from '../../core/format.ts'
import { progressOf } from '../../core/run-state.ts'
import type { RunHistory } from '../../core/run.ts'
import type { BrokerQueue, BrokerSource } from '../../core/sources.ts'
import { aheadOf, alwaysDurable, backExchangePrefix, holdingOf, isDroppedArgument } from '../../knowledge/broker.ts'
import { springSettings } from '../../knowledge/settings.ts'
import { readSettings } from '../service.ts'
import type { Comparison } from './notes.ts'
import type { Live, Parts } from './queues/parts.ts'
import {
  byShown,
  hasBegun,
  isLive,
  isSameQueue,
  isTypedAsShown,
  partsOf,
  shownKey,
  stepOf,
  vanishes,
} from './queues/parts.ts'
import { unfitStatements } from './queues/stated.ts'

/** True if a queue or an exchange of the record is missing from the broker. */
function isAnyGone({ names, exchanges }: Parts, live: Live): boolean {
  return names.some((name) => !live.queues.has(name)) || exchanges.some(({ from }) => !live.exchanges.has(from.name))
}

/** Returns how the record's queues differ from the broker's. `stands`: traces of the run remain. */
function unfitLiveQueues(parts: Parts, live: Live, stands: boolean): string[] {
  return parts.former.flatMap(({ queue }) => {
    const there = live.queues.get(queue.name)
    const unfit = there ? ofThere(queue, there, parts) : ofGone(queue, parts, stands)
    return [...ofDropped(queue, parts, live), ...unfit]
  })
}

function ofGone(queue: QueueDeclaration, { plan, stages, history }: Parts, stands: boolean): string[] {
  const isExpected = stages.delete.at !== 'before' || (vanishes(queue) && hasBegun(history))
  if (!isExpected) return [`queue ${queue.name} is missing, but according to the saved record it should exist`]
  if (!stands) return [`queue ${queue.name} is missing, and nothing shows that it ever existed`]
  const isDeclared =
    stages.redeclare.at === 'after' &&
    stepOf(plan, 'redeclare-queues')?.queues.some((it) => it.always && it.queue.name === queue.name)
  return isDeclared && !vanishes(queue)
    ? [`queue ${queue.name} is missing, but the saved record says that the run redeclared it`]
    : []
}

/** Returns how an existing queue differs from both its former and its planned declaration. */
function ofThere(queue: QueueDeclaration, there: BrokerQueue, { plan, stages }: Parts): string[] {
  const unlike = [`the declaration of queue ${queue.name} differs from the saved record`]
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
  if (stages.delete.at === 'before')
    return [`queue ${queue.name} is durable, but according to the saved record it should be transient`]
  const anew = stepOf(plan, 'redeclare-queues')?.queues.find((it) => it.queue.name === queue.name)?.queue
  const isIt =
    anew !== undefined &&
    there.autoDelete === anew.autoDelete &&
    !alwaysDurable.includes(there.type) &&
    holdsAll(there.arguments, plainly(anew.arguments))
  return isIt ? [] : [`the declaration of durable queue ${queue.name} differs from the saved record`]
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
  return dropped ? [`the run redeclares queue ${name} without its argument ${dropped[0]}`] : []
}

/** Returns the arguments without the type that RabbitMQ 4 shows although nobody named it (FIELD-NOTES.md 3). */
function plainly(values: QueueDeclaration['arguments']): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).filter(([name, value]) => !(name === 'x-queue-type' && value === 'classic')),
  )
}

/** Returns how the record's exchanges differ from the broker's. */
function unfitLiveExchanges({ exchanges, stages, history }: Parts, live: Live, stands: boolean): string[] {
  return exchanges.flatMap(({ from }) => {
    const there = live.exchanges.get(from.name)
    if (there) {
      if (!isSameExchange(from, there))
        return [`the declaration of exchange ${from.name} differs from the saved record`]
      return there.durable && stages.switch.at === 'before'
        ? [`exchange ${from.name} is durable, but according to the saved record it should be transient`]
        : []
    }
    // the broker deletes an auto-delete exchange with the last queue that is bound to it
    const isExpected = stages.switch.at === 'within' || (from.autoDelete && hasBegun(history))
    if (!isExpected) return [`exchange ${from.name} is missing, but according to the saved record it should exist`]
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
async function unfitLoss(
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
  return messages > now ? [`the run deletes up to ${counted(messages, 'message')}, but its queues contain ${now}`] : []
}

/**
 * Returns why this repair would not have written the record's queues, exchanges or bindings for this broker; empty if
 * they fit. A missing queue fits if its deletion had begun and traces of the run remain; an existing one must be as it
 * was, or as planned.
 */
export async function unfitQueues(history: RunHistory, { deployment, open }: Comparison): Promise<string[]> {
  if (history.record.plan.repair !== 'reset-queues') return []
  const parts = partsOf(history)
  const stated = unfitStatements(parts)
  if (stated.length > 0 || parts.names.length + parts.exchanges.length === 0) return stated
  const broker = await open.broker()
  const live = await liveOf(broker)
  const user = parts.quiet === null ? null : await userOf(broker, { deployment, open })
  if (user !== null && parts.quiet!.user !== user)
    return [
      `the run waits until user ${parts.quiet!.user} is disconnected, but the service signs in to RabbitMQ as ${user}`,
    ]
  const stands = isAnyGone(parts, live) && (await doesRunStand(parts, live, { open }))
  return [
    ...unfitLiveQueues(parts, live, stands),
    ...unfitLiveExchanges(parts, live, stands),
    ...unfitLiveBindings(parts, live),
    ...(await unfitLoss(parts, live, broker)),
  ]
}

async function liveOf(broker: BrokerSource): Promise<Live> {
  const [queues, exchanges, bindings, { version }] = await Promise.all([
    broker.queues(),
    broker.exchanges(),
    broker.bindings(),
    broker.identity(),
  ])
  return {
    queues: new Map(queues.map((it) => [it.name, it])),
    exchanges: new Map(exchanges.map((it) => [it.name, it])),
    bindings,
    version,
  }
}

async function userOf(broker: BrokerSource, { deployment, open }: Comparison): Promise<string> {
  const settings = await readSettings(await open.service(), deployment)
  return settings.value(springSettings.rabbitUsername) ?? broker.user
}

/**
 * True if traces of the run remain that only this program or the stopped service leaves. Without them, nothing shows
 * that deleted queues ever existed.
 */
async function doesRunStand(
  { plan, names, quiet, stages }: Parts,
  { queues }: Live,
  { open }: Pick<Comparison, 'open'>,
): Promise<boolean> {
  const holds = plan.steps.some(({ action }) => action.kind === 'hold-queues')
  const isHeld = names.some((name) =>
    [holdingOf(name), aheadOf(holdingOf(name))].some((held) => queues.get(held)?.durable === true),
  )
  if (isHeld) return true
  // holding queues exist from before the service is stopped until the step that deletes them
  if (holds && stages.deleteHeld.at === 'before') return false
  if ((await (await open.service()).status()).state !== 'running') return true
  if (stages.start.at === 'before' || quiet === null) return false
  // a service that has started declares its queues once it is connected
  return (await (await open.broker()).connectionsOf(quiet.user)).length === 0
}

/** One end of a binding. `kept`: no step touches it; `unknown`: its bindings cannot be compared now. */
type End = 'kept' | 'former' | 'anew' | 'unknown'

/** Returns how the record's bindings differ from the broker's, as far as both ends exist and can be compared. */
function unfitLiveBindings(parts: Parts, live: Live): string[] {
  const own = new Set(parts.exchanges.map(({ from }) => from.name))
  const nowhere = parts.bindings.find(({ source }) => !own.has(source) && !isExchange(source, live))
  if (nowhere)
    return [
      `the run binds ${nowhere.destinationKind} ${nowhere.destination} to exchange ${nowhere.source}, but that ` +
        'exchange is missing',
    ]
  const mistyped = parts.bindings.find((it) => !isTypedAsShown(it))
  if (mistyped)
    return [
      `the saved record contains two different sets of arguments for the binding of ${mistyped.destinationKind} ` +
        mistyped.destination,
    ]
  const there = byShown(live.bindings)
  const isThere = (it: Binding): boolean => (there.get(shownKey(it)) ?? []).some((other) => isLive(it, other))
  // an existing binding is compared whatever its ends are
  const absent = parts.bindings.filter(
    (it) => (isComparable(it, parts, live) || there.has(shownKey(it))) && !isThere(it),
  )
  return [
    ...absent.map(
      ({ source, destination, destinationKind }) =>
        `the binding of ${destinationKind} ${destination} to ${source} is missing, or differs from the saved record`,
    ),
    ...leftOut(parts, live),
  ]
}

function isComparable({ source, destination, destinationKind }: Binding, parts: Parts, live: Live): boolean {
  const ends = [
    exchangeEnd(source, parts, live),
    destinationKind === 'queue' ? queueEnd(destination, parts, live) : exchangeEnd(destination, parts, live),
  ]
  return !ends.includes('unknown') && !(ends.includes('former') && ends.includes('anew'))
}

function exchangeEnd(name: string, { exchanges, stages }: Parts, live: Live): End {
  const there = live.exchanges.get(name)
  if (!exchanges.some(({ from }) => from.name === name)) return isExchange(name, live) ? 'kept' : 'unknown'
  if (!there) return 'unknown'
  // an undo declares it before it binds it
  if (!there.durable) return stages.switch.isGoingBack ? 'unknown' : 'former'
  return stages.switch.at === 'after' ? 'anew' : 'unknown'
}

function queueEnd(name: string, { names, stages }: Parts, { queues }: Live): End {
  const there = queues.get(name)
  if (!there) return 'unknown'
  if (!names.includes(name)) return 'kept'
  if (!there.durable) return stages.delete.isGoingBack || stages.keep.isGoingBack ? 'unknown' : 'former'
  return stages.redeclare.at === 'after' ? 'anew' : 'unknown'
}

/** Returns bindings that the record leaves out and that a deleted queue would lose. */
function leftOut({ plan, names, stages }: Parts, { queues, bindings }: Live): string[] {
  if (stages.delete.at !== 'before') return []
  const known = byShown(stepOf(plan, 'delete-queues')?.bindings ?? [])
  const isKnown = (it: Binding): boolean => (known.get(shownKey(it)) ?? []).some((other) => isLive(other, it))
  const isOwn = ({ destination, destinationKind }: Binding): boolean =>
    destinationKind === 'queue' && names.includes(destination) && queues.get(destination)?.durable === false
  const lost = bindings.find((it) => isOwn(it) && !it.source.startsWith(backExchangePrefix) && !isKnown(it))
  return lost ? [`the saved record lacks the binding of queue ${lost.destination} to ${lost.source}`] : []
}

/** True if an exchange exists. Lists leave out those that the broker itself declares. */
function isExchange(name: string, { exchanges }: Live): boolean {
  return exchanges.has(name) || name.startsWith('amq.')
}
