import type { Holder } from '../core/lock.ts'
import type { BrokerQueue } from '../core/sources.ts'

/**
 * The queue by which one operator at a time works on the deployment of a virtual host: it is exclusive, so that it goes
 * with its holder's connection (measured on 3.10.8, 4.0.5 and 4.3.6, which take such a queue also where transient ones
 * are denied). Its arguments say who holds it: lists have them at once, where they have its connection up to five
 * seconds late.
 */
export const operatorLock = {
  queue: 'testops-admin.lock',
  who: 'testops-admin.who',
  what: 'testops-admin.what',
  since: 'testops-admin.since',
} as const

/** characters of what a holder says of itself, which anybody may have written */
const mostSaid = 255

/**
 * Who holds the broker's lock, by the queues of its virtual host; null: nobody. A queue of that name that is not
 * exclusive locks nobody out.
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
