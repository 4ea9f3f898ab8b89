import { readSettings } from '../service.ts'
import type { RunHistory } from '../../core/run.ts'
import type { BrokerSource } from '../../core/sources.ts'
import { springSettings } from '../../knowledge/settings.ts'
import type { Comparison } from './comparison.ts'
import { unfitLiveBindings } from './queues/bindings.ts'
import { isAnyGone, unfitLiveExchanges, unfitLiveQueues, unfitLoss } from './queues/live.ts'
import { partsOf } from './queues/parts.ts'
import type { Live, Parts } from './queues/parts.ts'
import { unfitStatements } from './queues/stated.ts'
import { aheadOf, holdingOf } from '../../knowledge/held-queues.ts'

/**
 * Queues, exchanges and bindings of the record that this repair would not have written for this broker; empty: none. A
 * missing queue fits if its deletion had begun and traces of the run remain; an existing one must be as it was, or as
 * planned.
 */
export async function unfitQueues(history: RunHistory, { deployment, open }: Comparison): Promise<string[]> {
  if (history.record.plan.repair !== 'reset-queues') return []
  const parts = partsOf(history)
  const stated = unfitStatements(parts)
  if (stated.length > 0 || parts.names.length + parts.exchanges.length === 0) return stated
  const broker = await open.broker()
  const live = await liveOf(broker)
  const user = parts.quiet === null ? null : await userOf(broker, { deployment, open })
  if (user !== null && parts.quiet!.user !== user)
    return [`it waits for user ${parts.quiet!.user}, but the service signs in as ${user}`]
  const stands = isAnyGone(parts, live) && (await doesRunStand(parts, live, { open }))
  return [
    ...unfitLiveQueues(parts, live, stands),
    ...unfitLiveExchanges(parts, live, stands),
    ...unfitLiveBindings(parts, live),
    ...(await unfitLoss(parts, live, broker)),
  ]
}

async function liveOf(broker: BrokerSource): Promise<Live> {
  const [queues, exchanges, bindings, { version }] = await Promise.all([
    broker.queues(),
    broker.exchanges(),
    broker.bindings(),
    broker.identity(),
  ])
  return {
    queues: new Map(queues.map((it) => [it.name, it])),
    exchanges: new Map(exchanges.map((it) => [it.name, it])),
    bindings,
    version,
  }
}

async function userOf(broker: BrokerSource, { deployment, open }: Comparison): Promise<string> {
  const settings = await readSettings(await open.service(), deployment)
  return settings.value(springSettings.rabbitUsername) ?? broker.user
}

/**
 * Whether traces of the run remain that only this program or the stopped service leaves. Without them, nothing shows
 * that deleted queues ever existed.
 */
async function doesRunStand(
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
