import type { Former, Move } from '../../core/action.ts'
import { aheadOf } from '../../knowledge/held-queues.ts'
import type { Workshop } from '../handler.ts'
import { accountsOf } from './account.ts'
import { areTaken, declareMissing } from './delete-queues.ts'
import { takeBackAside } from './move.ts'
import { countsOf, liveQueues, ownMoves } from './queues.ts'

/** Queues that are gone while messages wait for them, as they were: a broker that is started again has none that is transient any more. */
export async function goneOf(moves: readonly Move[], workshop: Workshop): Promise<Former[]> {
  const there = await liveQueues(workshop)
  const gone = moves.filter(({ queue }) => !there.has(queue))
  const counts = await countsOf(gone.flatMap(({ holding }) => [holding, aheadOf(holding)]), workshop)
  const isAwaited = ({ holding }: Move): boolean => [holding, aheadOf(holding)].some((name) => (counts.get(name)?.ready ?? 0) > 0)
  const names = new Set(gone.filter(isAwaited).map(({ queue }) => queue))
  return (workshop.saved?.queues ?? []).filter(({ name }) => names.has(name)).map((queue) => ({ queue, holding: null }))
}

/**
 * Messages that had come back to a transient queue, which a broker that was killed has dropped: what had been acknowledged last waits
 * again then. The queues are declared as they were, and what waits for them is brought back.
 */
export async function bringBackGone(workshop: Workshop): Promise<void> {
  const { transientIn } = accountsOf(workshop.journal.ofRun())
  const moves = ownMoves(workshop).filter(({ queue }) => transientIn(queue) !== null)
  const gone = moves.length === 0 ? [] : await goneOf(moves, workshop)
  if (gone.length === 0) return
  const names = new Set(gone.map(({ queue }) => queue.name))
  // one that the broker takes no more goes for good, and that is told
  if (!(await areTaken(gone, workshop))) return
  await declareMissing(gone, workshop.saved?.bindings ?? [], workshop)
  await takeBackAside(moves.filter(({ queue }) => names.has(queue)), workshop)
}
