import type { ActionHandler } from '../handler.ts'
import { liveQueues } from './queues.ts'

/** A queue that vanishes with its last consumer stays while one of ours is there; it is done for this process alone. */
export const keepQueues: ActionHandler<'keep-queues'> = {
  failpoints: ['kept'],
  isDone: async () => false,
  async perform({ queues }, { control, open, failpoint }) {
    // one that is durable by now is another queue
    const there = await liveQueues({ open })
    await (await control.broker()).keep(queues.filter((name) => there.get(name)?.durable === false))
    await failpoint('kept')
  },
  undo: null,
}
