import { transientQueues } from './broker.ts'

/** What known faults leave in the service's log. Matched on whole records, so on continuation lines too. */
export const logSignatures = {
  /** SPEC.md 7; FIELD-NOTES.md 2: dots and blanks vary */
  lockWaiting: /Waiting for changelog lock\.{3,4}/,
  lockRefused: /Could not acquire change log lock/,
  lockTaken: /Successfully acquired change log lock/,
  lockReleased: /Successfully released change log lock/,
  /** FIELD-NOTES.md 3: match on the feature's name only */
  transientRefused: new RegExp(transientQueues.feature),
  preconditionFailed: /PRECONDITION_FAILED/,
  /** SPEC.md 7, FIELD-NOTES.md 5 */
  cpuLevel: /CPU does not support x86-64-v3/,
  unknownHost: /java\.net\.UnknownHostException/,
  /** java.lang.OutOfMemoryError, as the JVM itself writes it */
  outOfMemory: /java\.lang\.OutOfMemoryError/,
  /** SPEC.md 7: a test case that is identical to one which its new project holds already */
  conflict: /Request failed with status code 409/i,
} as const

/** Whether a piece of log tells of a lock that was released without having been taken: by Liquibase before 4.29.2 (FIELD-NOTES.md 2). */
export function releasesForeignLock(log: string): boolean {
  const { lockWaiting, lockRefused, lockTaken, lockReleased } = logSignatures
  return lockReleased.test(log) && !lockTaken.test(log) && (lockWaiting.test(log) || lockRefused.test(log))
}

/**
 * Who held the lock that the last start of the service released after it had waited for it in vain, as its records tell, oldest
 * first (FIELD-NOTES.md 2); null: it ended otherwise.
 */
export function stolenFrom(records: readonly string[]): string | null {
  const { lockWaiting, lockRefused, lockTaken, lockReleased } = logSignatures
  const told = records.filter((text) => [lockWaiting, lockRefused, lockTaken, lockReleased].some((signature) => signature.test(text)))
  const last = told.findLastIndex((text) => !lockRefused.test(text))
  const [waited = '', released = '', refused = ''] = told.slice(Math.max(0, last - 1))
  if (last < 1 || !lockWaiting.test(waited) || !lockReleased.test(released) || !lockRefused.test(refused)) return null
  return /Currently locked by (.+?) since /.exec(refused)?.[1] ?? 'another one'
}

/** Host names in `java.net.UnknownHostException: HOST[: …]` of a record, each once (SPEC.md 7). */
export function unknownHosts(text: string): string[] {
  const names = [...text.matchAll(/java\.net\.UnknownHostException:[ \t]*([^\s:,;()]+)/g)].map((match) =>
    match[1]!.replace(/\.$/, ''),
  )
  return [...new Set(names.map((name) => name.toLowerCase()))]
}

/** A queue or exchange that exists with another `durable` than was asked for (FIELD-NOTES.md 3, SERVERS.md). */
export interface DurableConflict {
  kind: 'queue' | 'exchange'
  name: string
  vhost: string
  wanted: boolean
  current: boolean
}

const conflict =
  /PRECONDITION_FAILED - inequivalent arg 'durable' for (queue|exchange) '([^']*)' in vhost '([^']*)': received '(true|false)' but current is '(true|false)'/g

/** Every refused declaration that a record tells of. */
export function durableConflicts(text: string): DurableConflict[] {
  return [...text.matchAll(conflict)].map(([, kind, name, vhost, wanted, current]) => ({
    kind: kind === 'exchange' ? 'exchange' : 'queue',
    name: name!,
    vhost: vhost!,
    wanted: wanted === 'true',
    current: current === 'true',
  }))
}

export interface DeclaredQueue {
  name: string
  durable: boolean
  autoDelete: boolean | null
  exclusive: boolean | null
}

const declared =
  /Auto-declaring a non-durable, auto-delete, or exclusive Queue \(([^)]*)\)\s*durable:(true|false)(?:,\s*auto-delete:(true|false))?(?:,\s*exclusive:(true|false))?/g

/** Queues that Spring AMQP says it declares: those that are not durable, or auto-delete, or exclusive (FIELD-NOTES.md 3). */
export function declaredQueues(text: string): DeclaredQueue[] {
  return [...text.matchAll(declared)].map(([, name, durable, autoDelete, exclusive]) => ({
    name: name!,
    durable: durable === 'true',
    autoDelete: autoDelete === undefined ? null : autoDelete === 'true',
    exclusive: exclusive === undefined ? null : exclusive === 'true',
  }))
}

const declaredExchange = /Auto-declaring a non-durable or auto-delete Exchange \(([^)]*)\)/g

/** Exchanges that Spring AMQP says it declares: those that are not durable, or auto-delete (FIELD-NOTES.md 3). */
export function declaredExchanges(text: string): string[] {
  return [...text.matchAll(declaredExchange)].map(([, name]) => name!)
}
