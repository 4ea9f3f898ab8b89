import type { Binding } from '../../../core/topology.ts'
import { backExchangePrefix } from '../../../knowledge/broker.ts'
import { byShown, isLive, isTypedAsShown, shownKey, stepOf } from './parts.ts'
import type { Live, Parts } from './parts.ts'

/** One end of a binding. `kept`: no step touches it; `unknown`: its bindings cannot be compared now. */
type End = 'kept' | 'former' | 'anew' | 'unknown'

/** How the record's bindings differ from the broker's, as far as both ends exist and can be compared. */
export function unfitLiveBindings(parts: Parts, live: Live): string[] {
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

/** Bindings that the record leaves out, and that a deleted queue would lose. */
function leftOut({ plan, names, stages }: Parts, { queues, bindings }: Live): string[] {
  if (stages.delete.at !== 'before') return []
  const known = byShown(stepOf(plan, 'delete-queues')?.bindings ?? [])
  const isKnown = (it: Binding): boolean => (known.get(shownKey(it)) ?? []).some((other) => isLive(other, it))
  const isOwn = ({ destination, destinationKind }: Binding): boolean =>
    destinationKind === 'queue' && names.includes(destination) && queues.get(destination)?.durable === false
  const lost = bindings.find((it) => isOwn(it) && !it.source.startsWith(backExchangePrefix) && !isKnown(it))
  return lost ? [`it leaves out the binding of queue ${lost.destination} to ${lost.source}`] : []
}

/** Whether an exchange exists. Lists leave out those that the broker itself declares. */
function isExchange(name: string, { exchanges }: Live): boolean {
  return exchanges.has(name) || name.startsWith('amq.')
}
