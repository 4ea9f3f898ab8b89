import { createHash } from 'node:crypto'

/** Queues in which messages wait while their own queue is declared anew. */
const heldPrefix = 'testops-admin.held.'
/** Queues into which an undo empties what was declared anew: its messages come before those that still wait. */
const aheadPrefix = 'testops-admin.ahead.'

/** Whether messages wait in a queue of that name during a repair. */
export function isHeldQueue(name: string): boolean {
  return name.startsWith(heldPrefix) || name.startsWith(aheadPrefix)
}

/** The name of the queue that holds that queue's messages. */
export function holdingOf(queue: string): string {
  return nameWithin(heldPrefix, queue)
}

/** The name of the queue whose messages come before those in `holding`, which is one of `holdingOf`. */
export function aheadOf(holding: string): string {
  return nameWithin(aheadPrefix, holding.slice(heldPrefix.length))
}

/** A name has 255 bytes at most (AMQP 0-9-1, shortstr). */
function nameWithin(prefix: string, rest: string): string {
  const name = `${prefix}${rest}`
  return Buffer.byteLength(name) <= 255
    ? name
    : `${prefix}${createHash('sha256').update(rest).digest('hex').slice(0, 32)}`
}
