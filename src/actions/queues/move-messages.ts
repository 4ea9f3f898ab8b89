import type { ActionHandler } from '../handler.ts'
import { aheadOf } from '../../knowledge/held-queues.ts'
import { bringBack, putAside, takeBackAside } from './move.ts'
import { countsOf } from './queues.ts'

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
  perform: async ({ direction, moves }, workshop) => (direction === 'aside' ? putAside(moves, workshop) : bringBack(moves, workshop, { verifies: 'all' })),
  undo: async ({ direction, moves }, workshop) => (direction === 'aside' ? takeBackAside(moves, workshop) : putAside(moves, workshop, { isUndo: true })),
}
