import type { Comparison } from '../comparison.ts'
import { aheadOf, holdingOf } from '../../../knowledge/held-queues.ts'
import type { Live, Parts } from './parts.ts'

/**
 * Whether something of the run stands that only this program, or the service's own stop, leaves there. Without it,
 * nothing shows that what the record calls deleted has ever been.
 */
export async function doesRunStand(
  { plan, names, quiet, stages }: Parts,
  { queues }: Live,
  { open }: Pick<Comparison, 'open'>,
): Promise<boolean> {
  const holds = plan.steps.some(({ action }) => action.kind === 'hold-queues')
  const isHeld = names.some((name) =>
    [holdingOf(name), aheadOf(holdingOf(name))].some((held) => queues.get(held)?.durable === true),
  )
  if (isHeld) return true
  // they are there from before the service is stopped until the step that deletes them
  if (holds && stages.deleteHeld.at === 'before') return false
  if ((await (await open.service()).status()).state !== 'running') return true
  if (stages.start.at === 'before' || quiet === null) return false
  // a service that has started declares its queues once it is connected
  return (await (await open.broker()).connectionsOf(quiet.user)).length === 0
}
