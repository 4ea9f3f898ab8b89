import type { Move } from '../../core/action.ts'
import type { Binding, BrokerControl } from '../../core/broker-control.ts'
import { AdminError } from '../../core/error.ts'
import { aheadOf, backExchangePrefix } from '../../knowledge/broker.ts'
import type { ActionHandler, Workshop } from '../handler.ts'
import { countsOf, declaration, isThere, liveExchanges, liveQueues } from './queues.ts'
import { deleteEmpty } from './delete-held.ts'
import { areKept, keepExchanges } from './switch-exchanges.ts'
import { command } from '../../core/shell-command.ts'

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
  async perform({ moves, saved, vanishing = [] }, workshop) {
    const broker = await workshop.control.broker()
    const [there, exchanges] = [await liveQueues(workshop), await liveExchanges(workshop)]
    const own = saved.queues.filter((it) => isThere(there, it))
    await broker.tryRights({
      queues: own,
      exchanges: saved.exchanges.filter(({ name }) => exchanges.has(name)),
      bindings: saved.bindings,
    })
    await tryWayBack(
      broker,
      own.map(({ name }) => name),
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
  const name = `${backExchangePrefix}trial`
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
