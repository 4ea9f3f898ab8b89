import { createHash } from 'node:crypto'

/** Prefix of queues in which messages wait while their own queue is redeclared. */
const heldPrefix = 'testops-admin.held.'
/** Prefix of queues into which an undo empties redeclared queues: their messages come before those that still wait. */
const aheadPrefix = 'testops-admin.ahead.'

/** True if messages wait in a queue of that name during a repair. */
export function isHeldQueue(name: string): boolean {
  return name.startsWith(heldPrefix) || name.startsWith(aheadPrefix)
}

/** Returns the name of the queue that holds that queue's messages. */
export function holdingOf(queue: string): string {
  return nameWithin(heldPrefix, queue)
}

/** Returns the name of the queue whose messages come before those in `holding`, which is one of `holdingOf`. */
export function aheadOf(holding: string): string {
  return nameWithin(aheadPrefix, holding.slice(heldPrefix.length))
}

/** Returns a name of at most 255 bytes (AMQP 0-9-1, shortstr), with a hash in place of a longer rest. */
function nameWithin(prefix: string, rest: string): string {
  const name = `${prefix}${rest}`
  return Buffer.byteLength(name) <= 255
    ? name
    : `${prefix}${createHash('sha256').update(rest).digest('hex').slice(0, 32)}`
}
