import { AdminError } from '../../core/error.ts'
import { sentence } from '../../core/shell-command.ts'
import type { Binding } from '../../core/topology.ts'
import { typesOf } from '../../knowledge/argument-types.ts'

/**
 * Bindings with the types of their arguments, which lists do not tell: only so they can be bound again as they are.
 * Throws REFUSED where nothing tells the types.
 */
export function exact(bindings: readonly Binding[]): Binding[] {
  const known = new Map<string, Record<string, unknown> | null>()
  return bindings.map((it) => {
    const { key, typed, arguments: values } = it
    // what a former version wrote down has no key
    if (typed !== undefined || key === undefined) return it
    const group = JSON.stringify([key, values])
    if (!known.has(group)) known.set(group, typesOf(values, key))
    const found = known.get(group)
    if (!found) throw untyped(it)
    return { ...it, typed: found }
  })
}

/** The same of bindings as they are listed now: where the list tells neither types nor a key, nothing does. */
export function exactlyListed(bindings: readonly Binding[]): Binding[] {
  const untold = bindings.find(
    ({ key, typed, arguments: values }) => key === undefined && typed === undefined && Object.keys(values).length > 0,
  )
  if (untold) throw untyped(untold)
  return exact(bindings)
}

function untyped({ source, destination, destinationKind, routingKey, arguments: values }: Binding): AdminError {
  const message = `the types of the arguments of a binding cannot be told (${destinationKind} ${destination} to exchange ${source}: ${Object.keys(values).join(', ')}), so it could not be bound again as it is`
  return new AdminError('REFUSED', message, [
    sentence`unbind it, with routing key ${routingKey}, and bind it again afterwards`,
    'rabbitmqctl list_bindings source_name destination_name routing_key arguments --formatter json   # on the broker: shows the types',
  ])
}
