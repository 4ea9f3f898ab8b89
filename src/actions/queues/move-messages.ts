import type { ActionHandler } from '../handler.ts'
import { move } from './move.ts'
import { countsOf } from './queues.ts'

export const moveMessages: ActionHandler<'move-messages'> = {
  failpoints: ['opened', 'published', 'confirmed', 'acked', 'emptied', 'noted'],
  // on record as begun even where there is nothing to move, so that it is taken back where messages have come since
  isDone: async () => false,
  // what came to a queue since it was emptied is moved with its deletion
  async standsAs({ direction, moves }, workshop) {
    const there = await countsOf(moves.flatMap(({ queue, holding }) => [queue, holding]), workshop)
    const holds = (name: string): boolean => (there.get(name)?.ready ?? 0) > 0
    if (direction === 'back') return moves.some(({ holding }) => holds(holding)) ? 'not-done' : 'done'
    if (moves.some(({ holding }) => holds(holding))) return 'done'
    return moves.some(({ queue }) => holds(queue)) ? 'not-done' : 'untold'
  },
  async perform({ direction, moves }, workshop) {
    await move(direction, moves, workshop, { verifies: 'all' })
  },
  async undo({ direction, moves }, workshop) {
    // half a queue moved back behind its other half would not be in its order
    await move(direction, moves, workshop)
    await move(direction === 'aside' ? 'back' : 'aside', moves, workshop)
  },
}
