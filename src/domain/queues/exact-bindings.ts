import { AdminError } from '../../core/error.ts'
import { sentence } from '../../core/shell-command.ts'
import type { Binding } from '../../core/broker-control.ts'
import { typesOf } from '../../knowledge/argument-types.ts'

/**
 * Returns the same bindings with the types of their arguments, which lists do not show and which restoring a binding
 * needs. Throws REFUSED if the types are unknown.
 */
export function exact(bindings: readonly Binding[]): Binding[] {
  const known = new Map<string, Record<string, unknown> | null>()
  return bindings.map((it) => {
    const { key, typed, arguments: values } = it
    // records of a former version have no key
    if (typed !== undefined || key === undefined) return it
    const group = JSON.stringify([key, values])
    if (!known.has(group)) known.set(group, typesOf(values, key))
    const found = known.get(group)
    if (!found) throw untyped(it)
    return { ...it, typed: found }
  })
}

/** Does the same for bindings that the broker lists now. Throws REFUSED if the list shows neither types nor a key. */
export function exactlyListed(bindings: readonly Binding[]): Binding[] {
  const untold = bindings.find(
    ({ key, typed, arguments: values }) => key === undefined && typed === undefined && Object.keys(values).length > 0,
  )
  if (untold) throw untyped(untold)
  return exact(bindings)
}

function untyped({ source, destination, destinationKind, routingKey, arguments: values }: Binding): AdminError {
  const message =
    `the repair cannot restore the binding of ${destinationKind} ${destination} to exchange ${source} exactly: ` +
    `the types of the binding's arguments (${Object.keys(values).join(', ')}) are unknown`
  return new AdminError('REFUSED', message, [
    sentence`remove that binding (routing key ${routingKey}), and add it again after the repair`,
    'rabbitmqctl list_bindings source_name destination_name routing_key arguments --formatter json   # run this on ' +
      'the broker to see the types of the arguments',
  ])
}
