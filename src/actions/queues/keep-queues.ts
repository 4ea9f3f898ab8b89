import type { Former, Move } from '../../core/action.ts'
import { AdminError } from '../../core/error.ts'
import type { ActionHandler, Workshop } from '../handler.ts'
import { areTaken, assertTakesThem, declareMissing, putBack } from './delete-queues.ts'
import { putAside } from './move.ts'
import { awaitedOf, countsOf, keepOpen, liveQueues, movesOf } from './queues.ts'

/**
 * Keeps queues from vanishing with their last consumer, by a consumer of this process. A new process has to do it
 * again.
 */
export const keepQueues: ActionHandler<'keep-queues'> = {
  failpoints: ['kept'],
  isDone: async () => false,
  standsAs: async () => 'untold',
  async perform({ queues }, workshop) {
    // a queue that is durable now is a different one
    const there = await liveQueues(workshop)
    const names = queues.map(({ queue }) => queue.name).filter((name) => there.get(name)?.durable === false)
    await keepOpen(names, workshop)
    await workshop.failpoint('kept')
  },
  async letGo({ queues }, workshop) {
    const unsaved: string[] = []
    for (const it of await keptByNobodyElse(queues, workshop)) {
      await putAside([it], withoutJournal(workshop), { isLastChance: true }).catch((error: unknown) => {
        if (!(error instanceof AdminError)) throw error
        unsaved.push(
          `queue ${it.queue} will vanish with its messages when testops-admin exits, because the messages cannot be ` +
            `moved aside: ${error.message}`,
        )
      })
    }
    if (unsaved.length > 0) throw new AdminError('INTERRUPTED', unsaved.join('; '))
  },
  async undo({ queues, bindings }, workshop) {
    const waiting = await awaited(queues, workshop)
    await putBack(waiting, bindings, workshop)
    const empty = queues.filter((it) => !waiting.includes(it))
    // a queue that vanished with this program is lost if the broker no longer accepts such queues
    if (await areTaken(empty, workshop)) await declareMissing(empty, bindings, workshop)
  },
  foreseeUndo: async ({ queues }, workshop) => assertTakesThem(await awaited(queues, workshop), workshop),
}

/**
 * The same workshop without an error if the journal cannot be written: that may be what ended the run, and the messages
 * matter more.
 */
function withoutJournal(workshop: Workshop): Workshop {
  const { journal } = workshop
  const note = async (text: string): Promise<void> =>
    journal.note(text).catch((error: unknown) => {
      if (!(error instanceof AdminError)) throw error
    })
  return { ...workshop, journal: { ...journal, note } }
}

/** Queues that would vanish, with their messages, when this process ends. */
async function keptByNobodyElse(queues: readonly Former[], workshop: Workshop): Promise<Move[]> {
  const kept = (await workshop.control.broker()).kept()
  if (kept.size === 0) return []
  const counts = await countsOf([...kept], workshop)
  return movesOf(queues).filter(({ queue }) => kept.has(queue) && counts.get(queue)?.consumers === 1)
}

/** Queues whose messages wait in a holding queue. */
async function awaited(queues: readonly Former[], workshop: Workshop): Promise<Former[]> {
  const names = new Set((await awaitedOf(movesOf(queues), workshop)).map(({ queue }) => queue))
  return queues.filter(({ queue }) => names.has(queue.name))
}
