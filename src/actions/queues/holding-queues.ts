import type { ActionOf, Move } from '../../core/action.ts'
import type { Binding, BrokerControl } from '../../core/broker-control.ts'
import { AdminError } from '../../core/error.ts'
import { aheadOf, backExchangePrefix, trialExchange } from '../../knowledge/broker.ts'
import type { ActionHandler, Workshop } from '../handler.ts'
import {
  assertPermitted,
  countsOf,
  declaration,
  isThere,
  liveExchanges,
  liveQueues,
  ownMoves,
  tryPermissions,
} from './queues.ts'
import type { QueueWork } from './queues.ts'
import { areKept, keepExchanges, keptBy } from './switch-exchanges.ts'
import { command } from '../../core/shell-command.ts'
import { tolerant } from '../../domain/wanted.ts'
import { accountsOf } from './account.ts'
import { bringBackRest } from './move.ts'

type Hold = ActionOf<'hold-queues'>

/**
 * Declares holding queues before anything stops, so that a broker that refuses them does no harm. A queue that is empty
 * now gets its holding queue when it gets messages.
 */
export const holdQueues: ActionHandler<'hold-queues'> = {
  failpoints: ['declared'],
  async isDone({ moves, vanishing = [] }, workshop) {
    const queues = await liveQueues(workshop)
    return (
      (await needed(moves, workshop)).every((name) => isThere(queues, declaration(name))) &&
      areKept(vanishing, workshop)
    )
  },
  // a queue that was not in use got no holding queue
  async standsAs({ moves }, workshop) {
    const queues = await liveQueues(workshop)
    return moves.some(({ holding }) => isThere(queues, declaration(holding))) ? 'done' : 'not-done'
  },
  askRights: async (action, workshop) => assertPermitted(workshop, workOf(action)),
  foresee: async (action, workshop) => tryAll(action, workshop),
  async perform(action, workshop) {
    const { moves, saved, vanishing = [] } = action
    // a run that is resumed has not foreseen it
    await tryAll(action, workshop)
    const broker = await workshop.control.broker()
    const there = await liveQueues(workshop)
    await tryWayBack(
      broker,
      saved.queues.filter((it) => isThere(there, it)).map(({ name }) => name),
    )
    const holding = await needed(moves, workshop)
    const declared = await broker.declareQueues(holding.map(declaration))
    await workshop.failpoint('declared')
    const others = holding.filter((name) => declared.get(name) === 'otherwise')
    if (others.length === 0) {
      await tryWayBack(broker, holding.slice(0, 1))
      return keepExchanges(vanishing, workshop)
    }
    throw new AdminError(
      'REFUSED',
      `the temporary queue ${others[0]} already exists, but with properties that testops-admin cannot use`,
      [
        command`rabbitmqctl list_queues name durable arguments messages | grep ${others[0]!}   # on the broker: check
          whether you need the messages in this queue. If you do not, delete the queue`,
      ],
    )
  },
  async undo({ moves }, workshop) {
    await deleteEmpty(
      moves.flatMap(({ holding }) => [holding, aheadOf(holding)]),
      workshop,
    )
  },
}

/** Returns all that the repair does with queues and exchanges, for which its user needs permissions. */
function workOf({ moves, saved, vanishing = [] }: Hold): QueueWork {
  const { own, bindings } = keptBy(vanishing)
  return {
    ...saved,
    bindings: [...saved.bindings, ...bindings],
    holding: moves.map(({ holding }) => holding),
    own,
  }
}

/** Tries these permissions on the queues and exchanges that exist. */
async function tryAll(action: Hold, workshop: Workshop): Promise<void> {
  const [queues, exchanges] = [await liveQueues(workshop), await liveExchanges(workshop)]
  const work = workOf({ ...action, vanishing: action.vanishing?.filter(({ name }) => exchanges.has(name)) ?? [] })
  await tryPermissions(workshop, {
    ...work,
    queues: work.queues.filter((it) => isThere(queues, it)),
    exchanges: work.exchanges.filter(({ name }) => exchanges.has(name)),
  })
}

/**
 * The holding queues of queues that have messages, or readers who may give some back; at least one, to find out that it
 * works.
 */
async function needed(moves: readonly Move[], workshop: Workshop): Promise<string[]> {
  const counts = await countsOf(
    moves.map(({ queue }) => queue),
    workshop,
  )
  const used = moves.filter(({ queue }) => {
    const { ready = 0, consumers = 0 } = counts.get(queue) ?? {}
    return ready > 0 || consumers > 0
  })
  return (used.length > 0 ? used : moves.slice(0, 1)).map(({ holding }) => holding)
}

/**
 * Tries the exchange through which messages come back, so that a missing right shows while the service still runs.
 * Throws FORBIDDEN.
 */
async function tryWayBack(broker: BrokerControl, queues: readonly string[]): Promise<void> {
  const name = trialExchange
  const to = (destination: string): Binding => ({
    source: name,
    destination,
    destinationKind: 'queue',
    routingKey: '',
    arguments: {},
  })
  await broker.declareExchange({
    name,
    type: 'fanout',
    durable: false,
    autoDelete: true,
    internal: false,
    arguments: {},
  })
  try {
    await broker.bind(queues.map(to))
  } finally {
    await broker.deleteExchange(name)
  }
}

export const deleteHeld: ActionHandler<'delete-held'> = {
  failpoints: ['deleted'],
  async isDone({ holding }, workshop) {
    const queues = await liveQueues(workshop)
    return all(holding).every((name) => !queues.has(name)) && (await leftExchanges(workshop)).length === 0
  },
  async standsAs({ holding }, workshop) {
    const queues = await liveQueues(workshop)
    const left = ownMoves(workshop).filter(
      (it) => holding.includes(it.holding) && [it.holding, aheadOf(it.holding)].some((name) => queues.has(name)),
    )
    const { cameOf } = accountsOf(workshop.journal.ofRun())
    // a killed broker may have restored a deleted queue
    if (left.length > 0 && left.every(({ queue }) => cameOf(queue) !== null)) return 'untold'
    return all(holding).some((name) => queues.has(name)) ? 'not-done' : 'done'
  },
  async perform({ holding }, workshop) {
    await deleteEmpty(all(holding), workshop)
    await workshop.failpoint('deleted')
  },
  async undo({ holding, vanishing = [] }, workshop) {
    await (await workshop.control.broker()).declareQueues(holding.map(declaration))
    await keepExchanges(vanishing, workshop)
  },
}

/** The holding queues, and the `ahead` queues of an undo that was resumed forward. */
function all(holding: readonly string[]): string[] {
  return holding.flatMap((name) => [name, aheadOf(name)])
}

/**
 * Deletes these holding queues, once the messages left in them are back in their own queue. Throws INTERRUPTED if that
 * queue is missing, or if a client reads from a holding queue.
 */
export async function deleteEmpty(holding: readonly string[], workshop: Workshop): Promise<void> {
  const { control, open } = workshop
  const broker = await control.broker()
  await bringBackRest(
    ownMoves(workshop).filter((it) => holding.includes(it.holding) || holding.includes(aheadOf(it.holding))),
    workshop,
  )
  const there = await liveQueues({ open })
  for (const name of await leftExchanges({ open })) await broker.deleteExchange(name)
  const deleted = await broker.deleteQueues(
    holding.filter((name) => there.has(name)).map((name) => ({ name, most: 0 })),
  )
  const full = holding.filter((name) => deleted.get(name) === 'in-use')
  if (full.length === 0) return
  const [first] = full
  const of = ownMoves(workshop).find((it) => it.holding === first || aheadOf(it.holding) === first)?.queue
  const isHomeless = of !== undefined && !there.has(of)
  const message = isHomeless
    ? `queue ${of} is missing, so the messages from it stay in the temporary queue ${first}. Nothing is lost`
    : `the temporary queue ${first} was not deleted: it still has messages, or a client reads from it`
  throw new AdminError('INTERRUPTED', message, [
    command`rabbitmqctl list_queues name messages consumers | grep ${first!}   # on the broker`,
    'if a client reads from the queue, stop that client, then run the same command again',
  ])
}

/**
 * After RabbitMQ was killed, queues that this run deleted may exist again. Deletes them before the service starts. If
 * that fails, it reports why, and the service starts all the same.
 */
export async function deleteLeft(workshop: Workshop): Promise<void> {
  const { cameOf } = accountsOf(workshop.journal.ofRun())
  const own = ownMoves(workshop).filter(({ queue }) => cameOf(queue) !== null)
  if (own.length === 0) return
  const queues = await tolerant(liveQueues(workshop))
  const left = own.flatMap(({ holding }) => all([holding])).filter((name) => queues?.has(name))
  if (left.length === 0) return
  await deleteEmpty(left, workshop).catch((error: unknown) => {
    if (!(error instanceof AdminError)) throw error
    workshop.result(error.message)
  })
}

/**
 * Exchanges that a killed run used to move messages back. Only this program creates such exchanges, and only one repair
 * runs at a time.
 */
async function leftExchanges({ open }: Pick<Workshop, 'open'>): Promise<string[]> {
  const exchanges = await (await open.broker()).exchanges()
  return exchanges.map(({ name }) => name).filter((name) => name.startsWith(backExchangePrefix))
}
