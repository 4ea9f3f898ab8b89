import type { Former, Move } from '../../core/action.ts'
import type { BrokerExchange, BrokerQueue, QueueCounts } from '../../core/sources.ts'
import type { QueueDeclaration } from '../../core/topology.ts'
import { aheadOf, holdingOf } from '../../knowledge/held-queues.ts'
import type { Workshop } from '../handler.ts'

/** The declaration of a holding queue: classic, so that it keeps every order and priority. */
export function declaration(name: string): QueueDeclaration {
  return { name, durable: true, autoDelete: false, arguments: { 'x-queue-type': 'classic' } }
}

/** The vhost's queues by name. */
export async function liveQueues({ open }: Pick<Workshop, 'open'>): Promise<ReadonlyMap<string, BrokerQueue>> {
  const queues = await (await open.broker()).queues()
  return new Map(queues.map((queue) => [queue.name, queue]))
}

/** The vhost's exchanges by name. */
export async function liveExchanges({ open }: Pick<Workshop, 'open'>): Promise<ReadonlyMap<string, BrokerExchange>> {
  const exchanges = await (await open.broker()).exchanges()
  return new Map(exchanges.map((exchange) => [exchange.name, exchange]))
}

/**
 * The counts of those queues that exist. Missing queues are not asked for: one refusal takes longer than all other
 * answers.
 */
export async function countsOf(
  names: readonly string[],
  { open }: Pick<Workshop, 'open'>,
): Promise<ReadonlyMap<string, QueueCounts>> {
  const there = await liveQueues({ open })
  const counts = await (await open.broker()).counts(names.filter((name) => there.has(name)))
  return new Map([...counts].flatMap(([name, it]) => (it === null ? [] : [[name, it] as const])))
}

/** Keeps these queues open while this process lives; ignores missing ones. */
export async function keepOpen(
  names: readonly string[],
  { open, control }: Pick<Workshop, 'open' | 'control'>,
): Promise<void> {
  // after an interruption nothing can be opened, but kept queues must still be brought to safety
  await open.broker()
  await (await control.broker()).keep(names)
}

/** The moves of those queues that have a holding queue. */
export function movesOf(queues: readonly Former[]): Move[] {
  return queues.flatMap(({ queue: { name }, holding }) => (holding === null ? [] : [{ queue: name, holding }]))
}

/** Every queue of the run, with the one that holds its messages. */
export function ownMoves({ saved }: Pick<Workshop, 'saved'>): Move[] {
  return (saved?.queues ?? []).map(({ name }) => ({ queue: name, holding: holdingOf(name) }))
}

/** A queue and the two that may hold its messages. */
export function placesOf({ queue, holding }: Move): string[] {
  return [queue, ...holdingPlaces(holding)]
}

function holdingPlaces(holding: string): string[] {
  return [holding, aheadOf(holding)]
}

/** Those of the moves whose messages wait in a holding queue. */
export async function awaitedOf(moves: readonly Move[], workshop: Pick<Workshop, 'open'>): Promise<Move[]> {
  const counts = await countsOf(
    moves.flatMap(({ holding }) => holdingPlaces(holding)),
    workshop,
  )
  return moves.filter(({ holding }) => holdingPlaces(holding).some((name) => (counts.get(name)?.ready ?? 0) > 0))
}

/** True if a queue of that name exists with that durability. */
export function isThere(
  queues: ReadonlyMap<string, BrokerQueue>,
  { name, durable }: Pick<QueueDeclaration, 'name' | 'durable'>,
): boolean {
  return queues.get(name)?.durable === durable
}
