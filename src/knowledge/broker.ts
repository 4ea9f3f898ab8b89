import { createHash } from 'node:crypto'
import type { Holder } from '../core/lock.ts'
import type { BrokerQueue } from '../core/sources.ts'
import { watched } from '../core/work.ts'

/** RabbitMQ's deprecated feature of non-durable, non-exclusive queues (FIELD-NOTES.md 3). */
export const transientQueues = {
  feature: 'transient_nonexcl_queues',
  /** First version that refuses them by default (FIELD-NOTES.md 3) */
  firstDenied: '4.3',
  /**
   * Reply code of the connection error on such a declaration; 406 is the channel error if a queue exists with other
   * properties
   */
  replyCode: 541,
  permitSetting: 'deprecated_features.permit.transient_nonexcl_queues',
} as const

/** True if this version refuses transient queues by default (FIELD-NOTES.md 3); null if the text is not a version. */
export function deniesTransientQueues(version: string): boolean | null {
  const parts = /^(\d+)\.(\d+)/.exec(version)
  if (!parts) return null
  const major = Number(parts[1])
  return major > 4 || (major === 4 && Number(parts[2]) >= 3)
}

/** The name of this program's own connections to the broker. */
export const ownConnectionName = 'testops-admin'

/** Prefix of queues in which this program keeps the journal of an unfinished repair (DESIGN.md 6.6). */
export const journalQueuePrefix = 'testops-admin.run.'

/**
 * True for queues and exchanges that RabbitMQ, Spring or this program name themselves and the service never declares
 * (FIELD-NOTES.md 3).
 */
export function isBuiltIn(name: string): boolean {
  return name === '' || name.startsWith('amq.') || name.startsWith('testops-admin.')
}

/** The tag of a user from whom the broker accepts messages under any user_id. */
export const impersonator = 'impersonator'

/** A routing key, and so the name of a queue that nobody declares: messages published with it are dropped. */
export const nowhere = 'testops-admin.nowhere'

/** The name by which permissions for the nameless exchange are given. */
export const namelessExchange = 'amq.default'

/** Prefix of exchanges through which messages move back to one queue, with their routing keys. */
export const backExchangePrefix = 'testops-admin.back.'

/** The exchange that gets temporary bindings of exchanges that would vanish with their last binding. */
export const keptExchange = `${backExchangePrefix}kept`

/** The exchange whose bindings show, before anything is moved, that messages can be moved back. */
export const trialExchange = `${backExchangePrefix}trial`

/**
 * Arguments of queues that RabbitMQ knows (rabbitmq.com/docs/queues, "Optional Arguments"; /docs/classic-queues;
 * FIELD-NOTES.md 3).
 */
export const queueArguments: ReadonlySet<string> = new Set([
  'x-expires',
  'x-message-ttl',
  'x-max-length',
  'x-max-length-bytes',
  'x-overflow',
  'x-dead-letter-exchange',
  'x-dead-letter-routing-key',
  'x-dead-letter-strategy',
  'x-max-priority',
  'x-queue-mode',
  'x-queue-version',
  'x-queue-type',
  'x-queue-master-locator',
  'x-queue-leader-locator',
  'x-single-active-consumer',
  'x-ha-policy',
])

/**
 * Returns the base64 that the management API shows in place of a text that is not UTF-8 (measured on 3.10.8, 4.0.5 and
 * 4.3.6); null for a text.
 */
export function shownBytes(value: string): string | null {
  return /^Not UTF-8, base64 is: (\S*)$/.exec(value)?.[1] ?? null
}

/**
 * Arguments of exchanges that RabbitMQ knows, and accepts only as text (rabbitmq.com/docs/ae; plugins
 * rabbitmq_consistent_hash_exchange, rabbitmq_delayed_message_exchange).
 */
export const exchangeArguments: ReadonlySet<string> = new Set([
  'alternate-exchange',
  'hash-header',
  'hash-property',
  'x-delayed-type',
])

/**
 * True if a broker of that version counts a message's dead letters by what it keeps beside the message, not by its
 * `x-death`. Then the count of a message that is published again starts at 1 (measured: 3.10.8 continues to count,
 * 4.0.5 and 4.3.6 begin at 1).
 */
export function countsDeathsItself(version: string): boolean {
  return !version.startsWith('3.')
}

/**
 * Types of exchanges that keep messages of their own and lose them when they are deleted (plugins
 * rabbitmq_delayed_message_exchange, rabbitmq_recent_history_exchange).
 */
export const keepingExchanges: readonly string[] = ['x-delayed-message', 'x-recent-history']

/** Types of queues that are always durable, and are never moved (DESIGN.md 2, FIELD-NOTES.md 3). */
export const alwaysDurable: readonly string[] = ['quorum', 'stream']

/** Keys of a policy, and with `x-` before them arguments, that limit how much a queue holds. */
const boundKeys = ['max-length', 'max-length-bytes'] as const

/** Keys of a policy by which a queue drops messages that it holds. */
const droppingKeys = ['message-ttl', 'expires', ...boundKeys] as const

/** Keys of a policy by which a queue does not keep all that is put into it. */
export const lossyKeys = [...droppingKeys, 'dead-letter-exchange'] as const

/** Targets of a policy that affects classic queues. */
const appliesToClassic = ['queues', 'all', 'classic_queues']

interface Policy {
  pattern: string
  appliesTo: string
  definition: object
}

/** True if a policy would make a queue of that name lose what it holds. */
export function isLossy(policy: Policy, queue: string): boolean {
  return sets(policy, lossyKeys, queue)
}

/** True if a policy would make a queue of that name drop messages; a dead-letter exchange alone drops none. */
export function isDropping(policy: Policy, queue: string): boolean {
  return sets(policy, droppingKeys, queue)
}

/** True if arguments or a policy limit how much a queue holds, or if policies cannot be seen (`policies` null). */
export function isBounded(
  { name, arguments: values }: { name: string; arguments: object },
  policies: readonly Policy[] | null,
): boolean {
  if (boundKeys.some((key) => `x-${key}` in values)) return true
  return policies === null || policies.some((it) => sets(it, boundKeys, name))
}

/**
 * Returns how much a queue takes before it refuses more, by its arguments or by a policy; null if it refuses nothing.
 * The broker counts only ready messages, so a queue holds more once its readers return theirs (measured on 3.10.8).
 */
export function refusedBeyond(
  { name, arguments: values }: { name: string; arguments: Readonly<Record<string, unknown>> },
  policies: readonly Policy[],
): { messages: number | null; bytes: number | null } | null {
  const told = (key: string): unknown[] =>
    policies.filter((it) => sets(it, [key], name)).map(({ definition }) => (definition as Record<string, unknown>)[key])
  const overflow = 'x-overflow' in values ? [values['x-overflow']] : told('overflow')
  if (!overflow.some((it) => typeof it === 'string' && it.startsWith('reject-publish'))) return null
  const [messages = null, bytes = null] = boundKeys.map((key) => {
    const bounds = [values[`x-${key}`], ...told(key)].filter((it) => typeof it === 'number')
    return bounds.length === 0 ? null : Math.min(...bounds)
  })
  return { messages, bytes }
}

/**
 * Returns the exchange that a queue's dead letters go to, by its argument, or by a policy; null if there is none. Of
 * several policies, the first that names one counts.
 */
export function deadLetterExchangeOf(
  { name, arguments: values }: { name: string; arguments: Readonly<Record<string, unknown>> },
  policies: readonly Policy[],
): string | null {
  const own = values['x-dead-letter-exchange']
  if (typeof own === 'string') return own
  const set = policies
    .filter((it) => sets(it, ['dead-letter-exchange'], name))
    .map(({ definition }) => (definition as Record<string, unknown>)['dead-letter-exchange'])
  return set.find((it) => typeof it === 'string') ?? null
}

/** Returns the dead-letter exchange that a queue's argument names; null if there is none, or it is the default one. */
export function namedDeadLetterExchange(queue: Parameters<typeof deadLetterExchangeOf>[0]): string | null {
  return deadLetterExchangeOf(queue, []) || null
}

/**
 * Returns the exchange that gets what an exchange cannot route, by its argument; null if there is none. Declaring such
 * an exchange requires the right to read it, and to write to the other one; if it exists, RabbitMQ does not check that
 * (measured on 3.10.8 and 4.3.6).
 */
export function alternateExchange({
  arguments: values,
}: {
  arguments: Readonly<Record<string, unknown>>
}): string | null {
  const named = values['alternate-exchange']
  return typeof named === 'string' && named !== '' ? named : null
}

function sets({ pattern, appliesTo, definition }: Policy, keys: readonly string[], queue: string): boolean {
  return appliesToClassic.includes(appliesTo) && keys.some((key) => key in definition) && matches(pattern, queue)
}

/** Milliseconds for one match; the name of a queue, which has 255 bytes at most, takes much less */
const longestMatchMs = 200

/** Matches a pattern of Perl's; one that JavaScript cannot read, or that takes too long, counts as a match. */
function matches(pattern: string, name: string): boolean {
  try {
    const expression = new RegExp(pattern)
    const test = (): boolean => expression.test(name)
    // anybody who may set a policy can write a pattern that never ends; the usual ones skip `watched`, which takes a
    // millisecond each time
    const isHarmless = !/\)[*+?{]/.test(pattern) && (pattern.match(/[*+{]/g)?.length ?? 0) <= 2
    return isHarmless
      ? test()
      : watched(test, { timeoutMs: longestMatchMs, late: () => new Error('this pattern comes to no end') })
  } catch {
    return true
  }
}

/**
 * True if an argument of a classic queue is left out when the queue is redeclared: what 4.3 refuses (classic queues of
 * version 1), and the type that 4.x shows although nobody named it (FIELD-NOTES.md 3). The notes on 4.3.0 say the same
 * of `x-queue-mode`. But 4.3.6 accepts it, and compares it with the service's declaration: without it, the service
 * would be refused (measured).
 */
export function isDroppedArgument(version: string, name: string, value: unknown): boolean {
  if (name === 'x-queue-type') return value === 'classic' && !version.startsWith('3.')
  return deniesTransientQueues(version) === true && name === 'x-queue-version' && value === 1
}

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
