import type { Holder } from '../core/lock.ts'
import type { BrokerQueue } from '../core/sources.ts'

/**
 * The queue that lets one operator at a time work on the deployment of a virtual host. It is exclusive, so it goes with
 * its holder's connection. RabbitMQ accepts such a queue even if transient ones are denied (measured on 3.10.8, 4.0.5
 * and 4.3.6). Its arguments say who holds it: lists show them at once, but its connection up to five seconds late.
 */
export const operatorLock = {
  queue: 'testops-admin.lock',
  who: 'testops-admin.who',
  what: 'testops-admin.what',
  since: 'testops-admin.since',
} as const

/** Maximum characters of what a holder says of itself, which anybody may have written */
const mostSaid = 255

/**
 * Returns who holds the broker's lock, by the queues of its virtual host; null if nobody does. A queue of that name
 * that is not exclusive locks nobody out.
 */
export function lockHolderIn(queues: readonly BrokerQueue[]): Holder | null {
  const queue = queues.find(({ name, exclusive }) => name === operatorLock.queue && exclusive)
  if (!queue) return null
  const said = (name: string): string | null => {
    const value = queue.arguments[name]
    return typeof value === 'string' && value !== '' ? value.slice(0, mostSaid) : null
  }
  const since = new Date(said(operatorLock.since) ?? Number.NaN)
  return {
    who: said(operatorLock.who),
    what: said(operatorLock.what),
    since: Number.isNaN(since.getTime()) ? null : since,
  }
}
