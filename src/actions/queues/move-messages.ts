import type { Former, Move } from '../../core/action.ts'
import type { ActionHandler, Workshop } from '../handler.ts'
import { aheadOf } from '../../knowledge/held-queues.ts'
import { assertTakesThem, declareMissing } from './delete-queues.ts'
import { bringBack, putAside, takeBackAside } from './move.ts'
import { noteBindings } from './note-bindings.ts'
import { refuseUnsafeHolding } from './policies.ts'
import { countsOf, liveQueues } from './queues.ts'
import { refuseVanished } from './vanished.ts'

export const moveMessages: ActionHandler<'move-messages'> = {
  failpoints: ['opened', 'published', 'confirmed', 'acked', 'emptied', 'noted'],
  // on record as begun even where there is nothing to move, so that it is taken back where messages have come since
  isDone: async () => false,
  // what came to a queue since it was emptied is moved with its deletion
  async standsAs({ direction, moves }, workshop) {
    const there = await countsOf(moves.flatMap(({ queue, holding }) => [queue, holding, aheadOf(holding)]), workshop)
    const holds = (name: string): boolean => (there.get(name)?.ready ?? 0) > 0
    const isWaiting = moves.some(({ holding }) => holds(holding) || holds(aheadOf(holding)))
    if (direction === 'back') return isWaiting ? 'not-done' : 'done'
    if (isWaiting) return 'done'
    return moves.some(({ queue }) => holds(queue)) ? 'not-done' : 'untold'
  },
  async perform({ direction, moves, counts }, workshop) {
    if (direction === 'back') return bringBack(moves, workshop, { verifies: 'all' })
    await refuseVanished(workshop, { planned: counts.messages })
    const there = await liveQueues(workshop)
    // one that is gone with its last reader is not there any more to be deleted
    await noteBindings(moves.map(({ queue }) => queue).filter((queue) => there.get(queue)?.autoDelete), [], workshop)
    return putAside(moves, workshop)
  },
  // before the service is stopped for it
  async foresee({ direction, moves }, workshop) {
    if (direction === 'aside') await refuseUnsafeHolding(moves, workshop)
  },
  async undo({ direction, moves }, workshop) {
    if (direction === 'back') return putAside(moves, workshop, { isUndo: true })
    await refuseVanished(workshop, { isOnlyReturned: true })
    const lost = await lostOf(moves, workshop)
    if (lost.length > 0) await declareMissing(lost, workshop.saved?.bindings ?? [], workshop)
    return takeBackAside(moves, workshop)
  },
  async foreseeUndo({ direction, moves }, workshop) {
    if (direction === 'aside') await assertTakesThem(await lostOf(moves, workshop), workshop)
  },
}

/** Queues that are gone while messages wait for them, as they were: a broker that is started again has none that is transient any more. */
async function lostOf(moves: readonly Move[], workshop: Workshop): Promise<Former[]> {
  const there = await liveQueues(workshop)
  const gone = moves.filter(({ queue }) => !there.has(queue))
  const counts = await countsOf(gone.flatMap(({ holding }) => [holding, aheadOf(holding)]), workshop)
  const isAwaited = ({ holding }: Move): boolean => [holding, aheadOf(holding)].some((name) => (counts.get(name)?.ready ?? 0) > 0)
  const names = new Set(gone.filter(isAwaited).map(({ queue }) => queue))
  return (workshop.saved?.queues ?? []).filter(({ name }) => names.has(name)).map((queue) => ({ queue, holding: null }))
}
