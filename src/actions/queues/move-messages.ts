import type { ActionHandler } from '../handler.ts'
import { move } from './move.ts'

export const moveMessages: ActionHandler<'move-messages'> = {
  failpoints: ['opened', 'published', 'confirmed', 'acked', 'emptied', 'noted'],
  // on record as begun even where there is nothing to move, so that it is taken back where messages have come since
  isDone: async () => false,
  async perform({ direction, moves }, workshop) {
    await move(direction, moves, workshop, { verifies: 'all' })
  },
  async undo({ direction, moves }, workshop) {
    // half a queue moved back behind its other half would not be in its order
    await move(direction, moves, workshop)
    await move(direction === 'aside' ? 'back' : 'aside', moves, workshop)
  },
}
