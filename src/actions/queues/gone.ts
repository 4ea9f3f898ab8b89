import type { Former, Move } from '../../core/action.ts'
import type { Workshop } from '../handler.ts'
import { accountsOf } from './account.ts'
import { areTaken, declareMissing } from './delete-queues.ts'
import { takeBackAside } from './move.ts'
import { awaitedOf, liveQueues, ownMoves } from './queues.ts'

/**
 * Queues that are gone while messages wait for them, as they were: a broker that is started again has none that is
 * transient any more.
 */
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
 * Messages that had come back to a transient queue, which a broker that was killed has dropped: what had been
 * acknowledged last waits again then. The queues are declared as they were, and what waits for them is brought back.
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
