import type { Former, Move } from '../../core/action.ts'
import type { Workshop } from '../handler.ts'
import { accountsOf } from './account.ts'
import { areTaken, declareMissing } from './delete-queues.ts'
import { takeBackAside } from './move.ts'
import { awaitedOf, liveQueues, ownMoves } from './queues.ts'

/** Returns missing queues, as they were, whose messages wait: a broker that restarts loses its transient queues. */
export async function goneOf(moves: readonly Move[], workshop: Workshop): Promise<Former[]> {
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
