import type { Channel } from 'amqplib'
import type { Log } from '../log/log.ts'
import type { Topology } from './topology.ts'

const admin = 'org.springframework.amqp.rabbit.core.RabbitAdmin'

/**
 * Declares exchanges, queues and bindings in this order, and stops at the first refusal, as Spring's RabbitAdmin does.
 */
export async function declare(
  channel: Channel,
  { exchanges, queues, bindings }: Topology,
  durable: boolean,
  log: Log,
): Promise<void> {
  if (!durable) {
    for (const { name } of exchanges) log.info(admin, transientExchange(name))
    for (const { name } of queues) log.info(admin, transientQueue(name))
  }
  for (const { name, type } of exchanges) await channel.assertExchange(name, type, { durable, autoDelete: false })
  for (const { name, arguments: values } of queues)
    await channel.assertQueue(name, { durable, autoDelete: false, exclusive: false, arguments: values })
  for (const { exchange, queue, routingKey } of bindings) await channel.bindQueue(queue, exchange, routingKey)
}

function transientExchange(name: string): string {
  return (
    `Auto-declaring a non-durable or auto-delete Exchange (${name}) durable:false, auto-delete:false. ` +
    'It will be deleted by the broker if it shuts down, and can be redeclared by closing and reopening the connection.'
  )
}

function transientQueue(name: string): string {
  return (
    `Auto-declaring a non-durable, auto-delete, or exclusive Queue (${name}) ` +
    'durable:false, auto-delete:false, exclusive:false. It will be redeclared if the broker stops and is restarted ' +
    'while the connection factory is alive, but all messages will be lost.'
  )
}
