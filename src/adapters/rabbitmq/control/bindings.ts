import type { Channel } from 'amqplib'
import type { Binding } from '../../../core/topology.ts'
import type { Reply } from '../reply.ts'
import { refusal } from '../refusal.ts'
import { typedArguments, typedInEachWay, withBytes } from './arguments.ts'
import type { On } from './queues.ts'

export async function bindAll({ link, endpoint }: On, bindings: readonly Binding[]): Promise<void> {
  await link.each<Binding, void>(
    bindings,
    async (channel, binding) => bindOne(channel, binding),
    (reply, binding) => {
      throw refusal(reply, endpoint, `binding ${inWords(binding)}`)
    },
  )
}

export async function unbindAll({ link, endpoint }: On, bindings: readonly Binding[]): Promise<void> {
  await link.each<Binding, void>(
    bindings,
    async (channel, binding) => {
      for (const given of typedInEachWay(binding.arguments)) await unbindOne(channel, binding, given)
    },
    (reply: Reply, binding) => {
      // where one of its ends is missing, so is the binding
      if (reply.code !== 404) throw refusal(reply, endpoint, `unbinding ${inWords(binding)}`)
    },
  )
}

async function bindOne(
  channel: Channel,
  { source, destination, destinationKind, routingKey, arguments: given, typed: known }: Binding,
): Promise<void> {
  const typed = known ? withBytes(known) : typedArguments(given)
  if (destinationKind === 'queue') await channel.bindQueue(destination, source, routingKey, typed)
  else await channel.bindExchange(destination, source, routingKey, typed)
}

async function unbindOne(
  channel: Channel,
  { source, destination, destinationKind, routingKey }: Binding,
  given: Record<string, unknown>,
): Promise<void> {
  if (destinationKind === 'queue') await channel.unbindQueue(destination, source, routingKey, given)
  else await channel.unbindExchange(destination, source, routingKey, given)
}

function inWords({ source, destination, destinationKind, routingKey }: Binding): string {
  return `${destinationKind} ${destination} to exchange ${source}${routingKey === '' ? '' : ` by ${routingKey}`}`
}
