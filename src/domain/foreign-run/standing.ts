import { AdminError } from '../../core/error.ts'
import { isHeldQueue } from '../../knowledge/held-queues.ts'
import type { Comparison } from './comparison.ts'

/**
 * What a run of this program may have left in the deployment, one sentence each: a service that is stopped, a mark of its former
 * replicas, queues that hold messages. What cannot be seen counts, since it may be there. Empty: nothing. Changes nothing.
 */
export async function leftStanding({ open }: { open: Pick<Comparison['open'], 'service' | 'broker'> }): Promise<string[]> {
  const looks = [
    async () => {
      const { state, formerReplicas } = await (await open.service()).status()
      return [
        ...(state === 'stopped' ? ['the service is stopped'] : []),
        ...(formerReplicas === undefined ? [] : [`the workload is marked with its former number of replicas, ${formerReplicas}`]),
      ]
    },
    async () => {
      const held = (await (await open.broker()).queues()).filter(({ name }) => isHeldQueue(name))
      return held.map(({ name }) => `queue \`${name}\` is there, in which messages wait during a repair`)
    },
  ]
  return (await Promise.all(looks.map(seen))).flat()
}

async function seen(look: () => Promise<string[]>): Promise<string[]> {
  try {
    return await look()
  } catch (error) {
    if (!(error instanceof AdminError) || error.code === 'INTERRUPTED') throw error
    return error.code === 'NOT_CONFIGURED' ? [] : [`it cannot be seen whether a repair is half done: ${error.message}`]
  }
}
