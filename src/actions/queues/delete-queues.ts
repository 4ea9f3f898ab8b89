import { refusesTransientQueues } from '../../domain/queues/broker-queues.ts'
import { exact } from '../../domain/queues/exact-bindings.ts'
import { counted, listed } from '../../core/format.ts'
import type { ActionOf, Former } from '../../core/action.ts'
import { AdminError } from '../../core/error.ts'
import type { Binding } from '../../core/broker-control.ts'
import { aheadOf } from '../../knowledge/broker.ts'
import type { ActionHandler, Workshop } from '../handler.ts'
import { accountsOf } from './account.ts'
import { deleteEmpty } from './holding-queues.ts'
import { missing, noteBindings } from './switch-exchanges.ts'
import { assertPermitted, countsOf, isThere, liveQueues, movesOf, refuseVanished, tryPermissions } from './queues.ts'
import { bindingsNoted } from '../../core/notes.ts'
import { putAside, takeBackAside } from './move.ts'
import { command } from '../../core/shell-command.ts'

type Delete = ActionOf<'delete-queues'>

/** How often a queue that gets new messages before it is deleted is emptied again */
const rounds = 5

/** Deletes the queues that still have their former properties; a redeclared queue is a different one. */
export const deleteQueues: ActionHandler<'delete-queues'> = {
  failpoints: ['counted', 'deleted'],
  async isDone({ queues }, workshop) {
    return (await present(queues, workshop)).length === 0
  },
  async perform(action, workshop) {
    if (action.discards) await refuseGrown(action, workshop)
    await workshop.failpoint('counted')
    const there = await present(action.queues, workshop)
    await noteBindings(
      there.map(({ queue }) => queue.name),
      action.bindings,
      workshop,
    )
    const { messages } = action.counts
    // messages to be discarded are not moved aside: nobody would fetch them
    await deleteEmptied(
      action.discards ? there.map((it) => ({ ...it, holding: null })) : there,
      workshop,
      action.discards ? messages : 0,
    )
    await workshop.failpoint('deleted')
  },
  askRights: async ({ queues, bindings, discards }, workshop) => {
    // otherwise, the step that declares the temporary queues asks for the same and more
    if (!discards) return
    await assertPermitted(workshop, { queues: queues.map(({ queue }) => queue), exchanges: [], bindings, discards })
  },
  // before the service is stopped for it
  async foresee(action, workshop) {
    if (!action.discards) return
    await refuseGrown(action, workshop)
    const queues = (await present(action.queues, workshop)).map(({ queue }) => queue)
    await tryPermissions(workshop, { queues, exchanges: [], bindings: action.bindings, discards: true })
  },
  // this step moved aside what came between emptying and deletion; the undo of later steps moves aside what came since
  async undo({ queues, bindings, discards }, workshop) {
    await refuseVanished(workshop, { isOnlyReturned: true })
    await deleteAnew(queues, workshop)
    await putBack(queues, bindings, workshop)
    if (discards)
      await deleteEmpty(
        movesOf(queues).flatMap(({ holding }) => [holding, aheadOf(holding)]),
        workshop,
      )
  },
  foreseeUndo: async ({ queues }, workshop) => assertTakesThem(queues, workshop),
}

/**
 * After RabbitMQ was killed, durable queues that this undo deleted may exist again. Moves their messages aside and
 * deletes them. Only queues to which this run had brought messages back, and empty ones, are this run's.
 */
async function deleteAnew(queues: readonly Former[], workshop: Workshop): Promise<void> {
  const there = await liveQueues(workshop)
  const other = queues.filter(({ queue }) => there.has(queue.name) && !isThere(there, queue))
  if (other.length === 0) return
  const { cameOf } = accountsOf(workshop.journal.ofRun())
  const counts = await countsOf(
    other.map(({ queue }) => queue.name),
    workshop,
  )
  const isEmpty = (name: string): boolean => (counts.get(name)?.ready ?? 0) + (counts.get(name)?.consumers ?? 0) === 0
  const own = other.filter(({ queue: { name } }) => cameOf(name) !== null || isEmpty(name))
  await putAside(movesOf(own), workshop, { isUndo: true })
  await deleteEmptied(own, workshop)
}

/** Throws REFUSED if the broker no longer accepts some of the queues as they were, as after an upgrade. */
export async function assertTakesThem(queues: readonly Former[], workshop: Workshop): Promise<void> {
  const there = await liveQueues(workshop)
  const transient = queues
    .filter(({ queue }) => !queue.durable && !isThere(there, queue))
    .map(({ queue }) => queue.name)
  if (transient.length === 0) return
  const { denied, why } = await refusesTransientQueues(await workshop.open.broker())
  if (!denied) return
  throw new AdminError(
    'REFUSED',
    `cannot make ${counted(transient.length, 'queue')} (${listed(transient)}) transient again, because the ` +
      `broker no longer accepts transient queues: ${why}`,
    ['testops-admin doctor -d {deployment}'],
  )
}

/** True if the broker would accept the queues as they were. */
export async function areTaken(queues: readonly Former[], workshop: Workshop): Promise<boolean> {
  try {
    await assertTakesThem(queues, workshop)
    return true
  } catch (error) {
    if (error instanceof AdminError && error.code === 'REFUSED') return false
    throw error
  }
}

/** Declares the missing queues as they were, with their bindings, and moves their messages back. */
export async function putBack(
  queues: readonly Former[],
  bindings: readonly Binding[],
  workshop: Workshop,
): Promise<void> {
  await declareMissing(queues, bindings, workshop)
  await takeBackAside(movesOf(queues), workshop)
}

/** Declares the missing queues as they were, with their bindings. */
export async function declareMissing(
  queues: readonly Former[],
  bindings: readonly Binding[],
  workshop: Workshop,
): Promise<void> {
  const there = await liveQueues(workshop)
  const broker = await workshop.control.broker()
  await broker.declareQueues(queues.map(({ queue }) => queue).filter(({ name }) => !there.has(name)))
  const former = new Set((await present(queues, workshop)).map(({ queue }) => queue.name))
  const wanted = [...bindings, ...bindingsNoted(workshop.journal.ofRun())].filter(
    ({ destination, destinationKind }) => destinationKind === 'queue' && former.has(destination),
  )
  await broker.bind(exact(await missing(wanted, workshop)))
}

async function present(queues: readonly Former[], workshop: Workshop): Promise<Former[]> {
  const there = await liveQueues(workshop)
  return queues.filter(({ queue }) => isThere(there, queue))
}

/**
 * Deletes queues that were emptied, and moves aside what has come since. Throws INTERRUPTED if a client reads from one,
 * or if its messages have nowhere to go.
 */
export async function deleteEmptied(queues: readonly Former[], workshop: Workshop, most = 0): Promise<void> {
  let left = queues
  for (let round = 1; ; round += 1) {
    left = await deleteThose(left, workshop, most)
    if (left.length === 0) return
    const names = left.map(({ queue }) => queue.name)
    const counts = await (await workshop.open.broker()).counts(names)
    const isRead = names.some((name) => (counts.get(name)?.consumers ?? 0) > 0)
    const isHeld = left.every(({ holding }) => holding !== null)
    if (!isHeld || isRead || round === rounds) throw inUse(names[0]!, isRead)
    await putAside(movesOf(left), workshop)
  }
}

/** Deletes the queues with at most `most` messages and no readers. Returns the others. */
async function deleteThose(queues: readonly Former[], workshop: Workshop, most: number): Promise<Former[]> {
  const broker = await workshop.control.broker()
  const kept = queues.filter(({ queue }) => broker.kept().has(queue.name))
  // a queue that vanishes when it is released would take new messages along, so they are moved aside first
  if (kept.length > 0) await putAside(movesOf(kept), workshop)
  for (const { queue } of kept) await broker.release(queue.name)
  const deleted = await broker.deleteQueues(queues.map(({ queue: { name } }) => ({ name, most })))
  return queues.filter(({ queue }) => deleted.get(queue.name) === 'in-use')
}

/** Throws REFUSED if more messages would be lost than the operator confirmed (DESIGN.md 6.3). */
async function refuseGrown({ queues, counts: { messages } }: Delete, { open }: Workshop): Promise<void> {
  const counts = await (await open.broker()).counts(queues.map(({ queue }) => queue.name))
  const now = [...counts.values()].reduce((sum, it) => sum + (it?.ready ?? 0), 0)
  if (now <= messages) return
  throw new AdminError(
    'REFUSED',
    `${counted(now, 'message')} would be lost now, but you confirmed a loss of only ${counted(messages, 'message')}`,
    ['testops-admin reset-queues -d {deployment} --dry-run   # without --discard-messages, the messages are kept'],
  )
}

function inUse(name: string, isRead: boolean): AdminError {
  const why = isRead ? 'another client reads from the queue' : 'the queue still gets new messages'
  return new AdminError('INTERRUPTED', `queue ${name} was not deleted: ${why}. Nothing is lost`, [
    command`rabbitmqctl list_consumers | grep ${name}   # on the broker`,
    'stop the other clients',
  ])
}
