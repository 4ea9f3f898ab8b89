import { counted } from '../../checks/support/format.ts'
import type { Move } from '../../core/action.ts'
import type { ActionHandler, Workshop } from '../handler.ts'
import { liveQueues } from './queues.ts'

export const moveMessages: ActionHandler<'move-messages'> = {
  failpoints: ['opened', 'published', 'confirmed', 'acked', 'emptied'],
  // on record as begun even where there is nothing to move, so that it is taken back where messages have come since
  isDone: async () => false,
  async perform({ direction, moves }, workshop) {
    await move(direction, moves, workshop)
  },
  async undo({ direction, moves }, workshop) {
    // half a queue moved back behind its other half would not be in its order
    await move(direction, moves, workshop)
    await move(direction === 'aside' ? 'back' : 'aside', moves, workshop)
  },
}

/** Moves what is there now, queue by queue; a queue that is missing has nothing to move. */
export async function move(direction: 'aside' | 'back', moves: readonly Move[], workshop: Workshop): Promise<void> {
  const { open, control, failpoint, signal, progress, moving } = workshop
  const counts = await (await open.broker()).counts(moves.map((it) => sourceOf(it, direction)))
  const broker = await control.broker()
  await keepVanishing(direction, moves, workshop)
  const isKept = ({ queue }: Move): boolean => direction === 'aside' && broker.kept().has(queue)
  // a consumer that nobody knows of may hold what is not counted as ready: the mover says so
  const full = moves.filter((it) => {
    const { ready = 0, consumers = 0 } = counts.get(sourceOf(it, direction)) ?? {}
    return ready > 0 || consumers > 0 || isKept(it)
  })
  if (full.length === 0) return
  const total = full.reduce((sum, it) => sum + (counts.get(sourceOf(it, direction))?.ready ?? 0), 0)
  const mover = await broker.mover()
  let before = 0
  for (const { queue, holding } of full) {
    const onProgress = ({ moved }: { moved: number }): void => moving({ done: before + moved, total, unit: 'messages' })
    // without a test that waits for it, nothing is held up
    const common = { onProgress, signal, ...(workshop.isTested && { failpoint }) }
    const { moved, perhapsTwice, withoutUserId } =
      direction === 'aside'
        ? await mover.aside({ from: queue, to: holding, ...common, ...(isKept({ queue, holding }) && { kept: { release: async () => broker.release(queue) } }) })
        : await mover.back({ from: holding, to: queue, ...common })
    before += moved
    if (perhapsTwice > 0) progress(`${queue}: ${counted(perhapsTwice, 'message')} had been delivered before, and may be there twice where a move was cut off`)
    if (direction === 'back' && withoutUserId > 0)
      progress(`${queue}: ${counted(withoutUserId, 'message')} came back without user_id, which the broker takes from that user alone`)
  }
}

/** The mover's own consumer comes and goes: a queue that would go with it is held open meanwhile. */
async function keepVanishing(direction: 'aside' | 'back', moves: readonly Move[], { open, control }: Workshop): Promise<void> {
  if (direction === 'back') return
  const queues = await liveQueues({ open })
  const vanishing = moves.filter(({ queue }) => queues.get(queue)?.autoDelete)
  if (vanishing.length > 0) await (await control.broker()).keep(vanishing.map(({ queue }) => queue))
}

function sourceOf({ queue, holding }: Move, direction: 'aside' | 'back'): string {
  return direction === 'aside' ? queue : holding
}
