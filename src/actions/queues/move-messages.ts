import type { ActionHandler } from '../handler.ts'
import { aheadOf } from '../../knowledge/held-queues.ts'
import { bringBack, putAside, takeBackAside } from './move.ts'
import { noteBindings } from './note-bindings.ts'
import { countsOf, liveQueues } from './queues.ts'

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
  async perform({ direction, moves }, workshop) {
    if (direction === 'back') return bringBack(moves, workshop, { verifies: 'all' })
    const there = await liveQueues(workshop)
    // one that is gone with its last reader is not there any more to be deleted
    await noteBindings(moves.map(({ queue }) => queue).filter((queue) => there.get(queue)?.autoDelete), [], workshop)
    return putAside(moves, workshop)
  },
  undo: async ({ direction, moves }, workshop) => (direction === 'aside' ? takeBackAside(moves, workshop) : putAside(moves, workshop, { isUndo: true })),
}
