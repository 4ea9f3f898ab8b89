import { AdminError } from '../../core/error.ts'
import { once } from '../../core/answers.ts'
import type { RunHistory } from '../../core/run.ts'
import { isUnfinished } from '../../core/run-state.ts'
import { isHeldQueue } from '../../knowledge/broker.ts'
import type { Comparison } from './notes.ts'

/**
 * Returns traces that a run of this program may have left in the deployment, one sentence each: a stopped service, a
 * mark of its former replicas, queues that hold messages. Empty if there are none. What cannot be seen counts as a
 * trace. Changes nothing.
 */
export async function leftStanding(where: Where): Promise<string[]> {
  return (await Promise.all([leftOfService(where), leftInBroker(where)])).flat()
}

/**
 * Returns a test: true if a run that only the deployment records as over really is. Others may write there, so nothing
 * unfinished may be left, except what its kind leaves behind. Reads the deployment once for all runs. Changes nothing.
 */
export function overIn(where: Where): (history: RunHistory) => Promise<boolean> {
  const ofService = once(async () => leftOfService(where))
  const inBroker = once(async () => leftInBroker(where))
  return async (history) => {
    if (isUnfinished(history) || (await inBroker()).length > 0) return false
    return history.record.plan.repair === 'service-stop' || (await ofService()).length === 0
  }
}

type Where = { open: Pick<Comparison['open'], 'service' | 'broker'> }

async function leftOfService({ open }: Where): Promise<string[]> {
  return asSeen(async () => {
    const { state, formerReplicas } = await (await open.service()).status()
    return [
      ...(state === 'stopped' ? ['the service is stopped'] : []),
      ...(formerReplicas === undefined
        ? []
        : [`the workload is still marked as stopped by testops-admin (replicas before the stop: ${formerReplicas})`]),
    ]
  })
}

async function leftInBroker({ open }: Where): Promise<string[]> {
  return asSeen(async () => {
    const held = (await (await open.broker()).queues()).filter(({ name }) => isHeldQueue(name))
    return held.map(({ name }) => `the temporary queue \`${name}\`, which holds messages during a repair, still exists`)
  })
}

async function asSeen(look: () => Promise<string[]>): Promise<string[]> {
  try {
    return await look()
  } catch (error) {
    if (!(error instanceof AdminError) || error.code === 'INTERRUPTED') throw error
    return error.code === 'NOT_CONFIGURED' ? [] : [`cannot tell whether a repair is unfinished: ${error.message}`]
  }
}
