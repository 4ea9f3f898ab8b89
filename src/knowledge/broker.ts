import { watched } from '../core/watched.ts'

/** RabbitMQ's deprecated feature that non-durable, non-exclusive queues are (FIELD-NOTES.md 3). */
export const transientQueues = {
  feature: 'transient_nonexcl_queues',
  /** first version that refuses them unless it is told otherwise (FIELD-NOTES.md 3) */
  firstDenied: '4.3',
  /**
   * reply code of the connection error on such a declaration; 406 is the channel error where a queue exists otherwise
   */
  replyCode: 541,
  permitSetting: 'deprecated_features.permit.transient_nonexcl_queues',
} as const

/**
 * Whether this version refuses transient queues unless it is configured otherwise (FIELD-NOTES.md 3). Null: not a
 * version.
 */
export function deniesTransientQueues(version: string): boolean | null {
  const parts = /^(\d+)\.(\d+)/.exec(version)
  if (!parts) return null
  const major = Number(parts[1])
  return major > 4 || (major === 4 && Number(parts[2]) >= 3)
}

/** What this program's own connections to the broker call themselves. */
export const ownConnectionName = 'testops-admin'

/** Queues in which this program keeps the journal of a repair that is not finished (DESIGN.md 6.6). */
export const journalQueuePrefix = 'testops-admin.run.'

/**
 * Queues and exchanges that RabbitMQ, Spring or this program name themselves and the service never declares
 * (FIELD-NOTES.md 3).
 */
export function isBuiltIn(name: string): boolean {
  return name === '' || name.startsWith('amq.') || name.startsWith('testops-admin.')
}

/** The tag of a user from whom the broker takes messages under any user_id. */
export const impersonator = 'impersonator'

/** A routing key, and so the name of a queue that nobody makes: what is published by it is dropped. */
export const nowhere = 'testops-admin.nowhere'

/** Exchanges through which messages come back to one queue, with their routing keys. */
export const backExchangePrefix = 'testops-admin.back.'

/** The exchange to which those are bound meanwhile that would go with their last binding. */
export const keptExchange = `${backExchangePrefix}kept`

/**
 * Arguments that RabbitMQ knows of a queue (rabbitmq.com/docs/queues, "Optional Arguments"; /docs/classic-queues;
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
 * What the management API shows in place of a text that is not UTF-8, in base64 (measured on 3.10.8, 4.0.5 and 4.3.6);
 * null: it is a text.
 */
export function shownBytes(value: string): string | null {
  return /^Not UTF-8, base64 is: (\S*)$/.exec(value)?.[1] ?? null
}

/**
 * Arguments of exchanges that RabbitMQ knows, and takes as text alone (rabbitmq.com/docs/ae; plugins
 * rabbitmq_consistent_hash_exchange, rabbitmq_delayed_message_exchange).
 */
export const exchangeArguments: ReadonlySet<string> = new Set([
  'alternate-exchange',
  'hash-header',
  'hash-property',
  'x-delayed-type',
])

/**
 * Whether a broker of that version counts the dead letters of a message by what it keeps beside it, and no longer by
 * its `x-death`: of one that is published again the count begins anew (measured: 3.10.8 goes on counting, 4.0.5 and
 * 4.3.6 begin at 1).
 */
export function countsDeathsItself(version: string): boolean {
  return !version.startsWith('3.')
}

/**
 * Types of exchanges that keep messages of their own, which go with them (plugins rabbitmq_delayed_message_exchange,
 * rabbitmq_recent_history_exchange).
 */
export const keepingExchanges: readonly string[] = ['x-delayed-message', 'x-recent-history']

/** Types of queues that are always durable, and are never moved (DESIGN.md 2, FIELD-NOTES.md 3). */
export const alwaysDurable: readonly string[] = ['quorum', 'stream']

/** Keys of a policy, and with `x-` before them arguments, under which a queue holds only so much. */
const boundKeys = ['max-length', 'max-length-bytes'] as const

/** Keys of a policy under which a queue drops of what it holds. */
const droppingKeys = ['message-ttl', 'expires', ...boundKeys] as const

/** Keys of a policy under which a queue does not keep all that is put into it. */
export const lossyKeys = [...droppingKeys, 'dead-letter-exchange'] as const

/** What a policy has to apply to, to bear on a classic queue. */
const appliesToClassic = ['queues', 'all', 'classic_queues']

interface Policy {
  pattern: string
  appliesTo: string
  definition: object
}

/** Whether a policy would make a queue of that name lose what it holds. */
export function isLossy(policy: Policy, queue: string): boolean {
  return sets(policy, lossyKeys, queue)
}

/** Whether a queue of that name would drop messages by a policy: one that only says where they go then drops none. */
export function isDropping(policy: Policy, queue: string): boolean {
  return sets(policy, droppingKeys, queue)
}

/** Whether a queue holds only so much, by its arguments or by a policy; `policies` null: they cannot be seen. */
export function isBounded(
  { name, arguments: values }: { name: string; arguments: object },
  policies: readonly Policy[] | null,
): boolean {
  if (boundKeys.some((key) => `x-${key}` in values)) return true
  return policies === null || policies.some((it) => sets(it, boundKeys, name))
}

/**
 * How much a queue takes before it refuses more, by its arguments or by a policy; null: it refuses nothing. The broker
 * counts what is ready alone, so that a queue holds more once its readers have given theirs back (measured on 3.10.8).
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
 * The exchange that a queue's dead letters go to, by its argument, or by a policy; null: none. Of several policies, the
 * first that says one.
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

function sets({ pattern, appliesTo, definition }: Policy, keys: readonly string[], queue: string): boolean {
  return appliesToClassic.includes(appliesTo) && keys.some((key) => key in definition) && matches(pattern, queue)
}

/** what a name of a queue, which has 255 bytes at most, takes much less for */
const longestMatchMs = 200

/** Patterns are Perl's; one that JavaScript does not read, or that comes to no end on this name, is taken to match. */
function matches(pattern: string, name: string): boolean {
  try {
    const expression = new RegExp(pattern)
    const test = (): boolean => expression.test(name)
    // whoever may set a policy may write one that never ends; the usual ones need no watch, which takes a millisecond
    // each time
    const isHarmless = !/\)[*+?{]/.test(pattern) && (pattern.match(/[*+{]/g)?.length ?? 0) <= 2
    return isHarmless
      ? test()
      : watched(test, { timeoutMs: longestMatchMs, late: () => new Error('this pattern comes to no end') })
  } catch {
    return true
  }
}

/**
 * Whether an argument of a classic queue is left out when it is declared anew: what 4.3 refuses (classic queues of
 * version 1), and the type that 4.x shows of itself though nobody named it (FIELD-NOTES.md 3). `x-queue-mode`, of which
 * the notes on 4.3.0 say the same, is taken by 4.3.6, and compared with what the service declares: without it, the
 * service would be refused (measured).
 */
export function isDroppedArgument(version: string, name: string, value: unknown): boolean {
  if (name === 'x-queue-type') return value === 'classic' && !version.startsWith('3.')
  return deniesTransientQueues(version) === true && name === 'x-queue-version' && value === 1
}
