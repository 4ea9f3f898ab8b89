import { setTimeout as sleep } from 'node:timers/promises'
import type { ActionHandler, Workshop } from '../handler.ts'
import { lostLooks } from './queues.ts'

const pollMs = 500

/** Waits until the service has emptied its queues. Running out of time is no failure: what is left is moved aside. */
export const drainQueues: ActionHandler<'drain-queues'> = {
  failpoints: ['waited'],
  async isDone({ queues }, workshop) {
    return !(await isWorkLeft(queues, workshop))
  },
  standsAs: async () => 'untold',
  async perform({ queues, seconds }, workshop) {
    const { progress, signal, failpoint, open } = workshop
    const end = performance.now() + seconds * 1000
    const look = lostLooks(
      async () =>
        (await isWorkLeft(queues, workshop)) &&
        // a stopped service empties no queues
        (await (await open.service()).status()).state === 'running',
    )
    progress(`waiting up to ${seconds} s for the service to empty its queues`)
    while (performance.now() < end && !signal.aborted && (await look()) !== false) {
      await sleep(Math.min(pollMs, Math.max(1, end - performance.now())), undefined, { signal }).catch(() => undefined)
    }
    await failpoint('waited')
  },
  undo: null,
}

/** True if a client still reads from a queue that has messages. */
async function isWorkLeft(queues: readonly string[], { open }: Workshop): Promise<boolean> {
  const counts = await (await open.broker()).counts(queues)
  return [...counts.values()].some((it) => it !== null && it.ready > 0 && it.consumers > 0)
}
