import { AdminError } from '../../core/error.ts'
import type { ActionHandler } from '../handler.ts'
import { declaration, isThere, liveQueues } from './queues.ts'
import { deleteEmpty } from './delete-held.ts'

/** Before anything stops: a broker that does not take them harms nobody. */
export const holdQueues: ActionHandler<'hold-queues'> = {
  failpoints: ['declared'],
  async isDone({ holding }, workshop) {
    const queues = await liveQueues(workshop)
    return holding.every((name) => isThere(queues, declaration(name)))
  },
  async perform({ holding }, { control, failpoint }) {
    const broker = await control.broker()
    const declared = await broker.declareQueues(holding.map(declaration))
    await failpoint('declared')
    const others = holding.filter((name) => declared.get(name) === 'otherwise')
    if (others.length === 0) return
    throw new AdminError('REFUSED', `a queue ${others[0]} is there already and is not as this program declares it`, [
      `see what it holds, and delete it: rabbitmqctl list_queues name durable arguments messages | grep ${others[0]}`,
    ])
  },
  async undo({ holding }, workshop) {
    await deleteEmpty(holding, workshop)
  },
}
