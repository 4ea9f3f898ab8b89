import { AdminError } from '../../core/error.ts'
import { tolerant } from '../../domain/wanted.ts'
import { aheadOf, backExchangePrefix } from '../../knowledge/broker.ts'
import { command } from '../../core/shell-command.ts'
import type { ActionHandler, Workshop } from '../handler.ts'
import { accountsOf } from './account.ts'
import { keepExchanges } from './switch-exchanges.ts'
import { bringBackRest } from './move.ts'
import { declaration, liveQueues, ownMoves } from './queues.ts'

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
