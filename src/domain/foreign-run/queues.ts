import { readSettings } from '../service.ts'
import type { RunHistory } from '../../core/run.ts'
import type { BrokerSource } from '../../core/sources.ts'
import { springSettings } from '../../knowledge/settings.ts'
import type { Comparison } from './comparison.ts'
import { isAnyGone, unfitLiveExchanges, unfitLiveQueues, unfitLoss } from './queues/live.ts'
import { byShown, isLive, isTypedAsShown, partsOf, shownKey, stepOf } from './queues/parts.ts'
import type { Live, Parts } from './queues/parts.ts'
import { unfitStatements } from './queues/stated.ts'
import { aheadOf, holdingOf } from '../../knowledge/held-queues.ts'
import type { Binding } from '../../core/topology.ts'
import { backExchangePrefix } from '../../knowledge/broker.ts'

/**
 * Returns why this repair would not have written the record's queues, exchanges or bindings for this broker; empty if
 * they fit. A missing queue fits if its deletion had begun and traces of the run remain; an existing one must be as it
 * was, or as planned.
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
 * True if traces of the run remain that only this program or the stopped service leaves. Without them, nothing shows
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
  // holding queues exist from before the service is stopped until the step that deletes them
  if (holds && stages.deleteHeld.at === 'before') return false
  if ((await (await open.service()).status()).state !== 'running') return true
  if (stages.start.at === 'before' || quiet === null) return false
  // a service that has started declares its queues once it is connected
  return (await (await open.broker()).connectionsOf(quiet.user)).length === 0
}

/** One end of a binding. `kept`: no step touches it; `unknown`: its bindings cannot be compared now. */
type End = 'kept' | 'former' | 'anew' | 'unknown'

/** Returns how the record's bindings differ from the broker's, as far as both ends exist and can be compared. */
function unfitLiveBindings(parts: Parts, live: Live): string[] {
  const own = new Set(parts.exchanges.map(({ from }) => from.name))
  const nowhere = parts.bindings.find(({ source }) => !own.has(source) && !isExchange(source, live))
  if (nowhere)
    return [
      `it binds ${nowhere.destinationKind} ${nowhere.destination} to exchange ${nowhere.source}, which is missing`,
    ]
  const mistyped = parts.bindings.find((it) => !isTypedAsShown(it))
  if (mistyped)
    return [`it binds ${mistyped.destinationKind} ${mistyped.destination} with other arguments than it shows`]
  const there = byShown(live.bindings)
  const isThere = (it: Binding): boolean => (there.get(shownKey(it)) ?? []).some((other) => isLive(it, other))
  // an existing binding is compared whatever its ends are
  const absent = parts.bindings.filter(
    (it) => (isComparable(it, parts, live) || there.has(shownKey(it))) && !isThere(it),
  )
  return [
    ...absent.map(
      ({ source, destination, destinationKind }) =>
        `${destinationKind} ${destination} is not bound to ${source} as the record says`,
    ),
    ...leftOut(parts, live),
  ]
}

function isComparable({ source, destination, destinationKind }: Binding, parts: Parts, live: Live): boolean {
  const ends = [
    exchangeEnd(source, parts, live),
    destinationKind === 'queue' ? queueEnd(destination, parts, live) : exchangeEnd(destination, parts, live),
  ]
  return !ends.includes('unknown') && !(ends.includes('former') && ends.includes('anew'))
}

function exchangeEnd(name: string, { exchanges, stages }: Parts, live: Live): End {
  const there = live.exchanges.get(name)
  if (!exchanges.some(({ from }) => from.name === name)) return isExchange(name, live) ? 'kept' : 'unknown'
  if (!there) return 'unknown'
  // an undo declares it before it binds it
  if (!there.durable) return stages.switch.isGoingBack ? 'unknown' : 'former'
  return stages.switch.at === 'after' ? 'anew' : 'unknown'
}

function queueEnd(name: string, { names, stages }: Parts, { queues }: Live): End {
  const there = queues.get(name)
  if (!there) return 'unknown'
  if (!names.includes(name)) return 'kept'
  if (!there.durable) return stages.delete.isGoingBack || stages.keep.isGoingBack ? 'unknown' : 'former'
  return stages.redeclare.at === 'after' ? 'anew' : 'unknown'
}

/** Returns bindings that the record leaves out and that a deleted queue would lose. */
function leftOut({ plan, names, stages }: Parts, { queues, bindings }: Live): string[] {
  if (stages.delete.at !== 'before') return []
  const known = byShown(stepOf(plan, 'delete-queues')?.bindings ?? [])
  const isKnown = (it: Binding): boolean => (known.get(shownKey(it)) ?? []).some((other) => isLive(other, it))
  const isOwn = ({ destination, destinationKind }: Binding): boolean =>
    destinationKind === 'queue' && names.includes(destination) && queues.get(destination)?.durable === false
  const lost = bindings.find((it) => isOwn(it) && !it.source.startsWith(backExchangePrefix) && !isKnown(it))
  return lost ? [`it leaves out the binding of queue ${lost.destination} to ${lost.source}`] : []
}

/** True if an exchange exists. Lists leave out those that the broker itself declares. */
function isExchange(name: string, { exchanges }: Live): boolean {
  return exchanges.has(name) || name.startsWith('amq.')
}
