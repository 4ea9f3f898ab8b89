import type { BrokerQueue } from '../../core/sources.ts'
import type { QueueDeclaration } from '../../core/topology.ts'
import type { Workshop } from '../handler.ts'

/** As a queue that messages wait in is declared: classic, so that any order and any priority is kept as it came. */
export function declaration(name: string): QueueDeclaration {
  return { name, durable: true, autoDelete: false, arguments: { 'x-queue-type': 'classic' } }
}

/** The vhost's queues by name. */
export async function liveQueues({ open }: Pick<Workshop, 'open'>): Promise<ReadonlyMap<string, BrokerQueue>> {
  const queues = await (await open.broker()).queues()
  return new Map(queues.map((queue) => [queue.name, queue]))
}

/** Whether a queue of that name is there, and is durable as it is to be. */
export function isThere(queues: ReadonlyMap<string, BrokerQueue>, { name, durable }: Pick<QueueDeclaration, 'name' | 'durable'>): boolean {
  return queues.get(name)?.durable === durable
}
