import type { Move, Former } from '../../core/action.ts'
import type { ActionHandler, Workshop } from '../handler.ts'
import { accountsOf } from './account.ts'
import { assertTakesThem, declareMissing, areTaken } from './delete-queues.ts'
import { bringBack, bringBackRest, putAside, takeBackAside } from './move.ts'
import { noteBindings } from './switch-exchanges.ts'
import { refuseUnsafeHolding } from './policies.ts'
import { awaitedOf, countsOf, liveQueues, refuseVanished, ownMoves } from './queues.ts'

export const moveMessages: ActionHandler<'move-messages'> = {
  failpoints: ['opened', 'published', 'confirmed', 'acked', 'emptied', 'noted'],
  // recorded as begun even with nothing to move, so that undo also handles messages that came later
  isDone: async () => false,
  // messages that come after a queue was emptied are moved when it is deleted
  async standsAs({ direction, moves }, workshop) {
    const waiting = await awaitedOf(moves, workshop)
    if (direction === 'back') {
      const { cameOf } = accountsOf(workshop.journal.ofRun())
      // a killed broker restores what was acknowledged last; that is checked before the holding queue is deleted
      if (waiting.length > 0) return waiting.every(({ queue }) => cameOf(queue) !== null) ? 'untold' : 'not-done'
      return 'done'
    }
    if (waiting.length > 0) return 'done'
    const counts = await countsOf(
      moves.map(({ queue }) => queue),
      workshop,
    )
    return [...counts.values()].some(({ ready }) => ready > 0) ? 'not-done' : 'untold'
  },
  async perform({ direction, moves, counts }, workshop) {
    if (direction === 'back') return bringBack(moves, workshop, { verifies: 'all' })
    await refuseVanished(workshop, { planned: counts.messages })
    const there = await liveQueues(workshop)
    // a queue that vanished with its last reader is not deleted later, so its bindings are noted now
    await noteBindings(
      moves.map(({ queue }) => queue).filter((queue) => there.get(queue)?.autoDelete),
      [],
      workshop,
    )
    return putAside(moves, workshop)
  },
  // before the service is stopped for it
  async foresee({ direction, moves }, workshop) {
    if (direction === 'aside') await refuseUnsafeHolding(moves, workshop)
  },
  async undo({ direction, moves }, workshop) {
    if (direction === 'back') {
      const { lastOf, attemptsOf, cameOf } = accountsOf(workshop.journal.ofRun())
      const isBack = ({ queue }: Move): boolean =>
        lastOf(queue)?.direction === 'back' &&
        attemptsOf(queue).at(-1)?.part !== null &&
        Object.keys(cameOf(queue)?.proven ?? {}).length > 0
      await bringBackRest(moves.filter(isBack), workshop)
      return putAside(moves, workshop, { isUndo: true })
    }
    await refuseVanished(workshop, { isOnlyReturned: true })
    const gone = await goneOf(moves, workshop)
    if (gone.length > 0) await declareMissing(gone, workshop.saved?.bindings ?? [], workshop)
    return takeBackAside(moves, workshop)
  },
  async foreseeUndo({ direction, moves }, workshop) {
    if (direction === 'aside') await assertTakesThem(await goneOf(moves, workshop), workshop)
  },
}

/** Returns missing queues, as they were, whose messages wait: a broker that restarts loses its transient queues. */
async function goneOf(moves: readonly Move[], workshop: Workshop): Promise<Former[]> {
  const there = await liveQueues(workshop)
  const gone = await awaitedOf(
    moves.filter(({ queue }) => !there.has(queue)),
    workshop,
  )
  const names = new Set(gone.map(({ queue }) => queue))
  return (workshop.saved?.queues ?? []).filter(({ name }) => names.has(name)).map((queue) => ({ queue, holding: null }))
}

/**
 * Brings back messages that a killed broker dropped after they had come back to a transient queue: those acknowledged
 * last wait in the holding queue again. Declares these queues as they were, and moves the messages back.
 */
export async function bringBackGone(workshop: Workshop): Promise<void> {
  const { transientIn } = accountsOf(workshop.journal.ofRun())
  const moves = ownMoves(workshop).filter(({ queue }) => transientIn(queue) !== null)
  const gone = moves.length === 0 ? [] : await goneOf(moves, workshop)
  if (gone.length === 0) return
  const names = new Set(gone.map(({ queue }) => queue.name))
  // if the broker refuses such queues by now, they stay lost, and the step reports it
  if (!(await areTaken(gone, workshop))) return
  await declareMissing(gone, workshop.saved?.bindings ?? [], workshop)
  await takeBackAside(
    moves.filter(({ queue }) => names.has(queue)),
    workshop,
  )
}
