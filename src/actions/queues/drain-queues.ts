import { setTimeout as sleep } from 'node:timers/promises'
import type { ActionHandler, Workshop } from '../handler.ts'
import { lostLooks } from '../lost-looks.ts'

const pollMs = 500

/** What is left when the time is up is moved aside: running out of time is no failure. */
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
        // a service that was stopped since empties nothing
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

/** Whether somebody reads from a queue in which something waits. */
async function isWorkLeft(queues: readonly string[], { open }: Workshop): Promise<boolean> {
  const counts = await (await open.broker()).counts(queues)
  return [...counts.values()].some((it) => it !== null && it.ready > 0 && it.consumers > 0)
}
