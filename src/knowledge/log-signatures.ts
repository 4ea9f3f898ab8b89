import { patternOf } from './signatures.ts'

/**
 * Signatures by the names that checks use, and what they alone look for. Matched on whole records, so on continuation
 * lines too.
 */
export const logSignatures = {
  lockWaiting: patternOf('lock-waiting'),
  lockRefused: patternOf('lock-refused'),
  lockTaken: patternOf('lock-taken'),
  lockReleased: patternOf('lock-released'),
  transientRefused: patternOf('transient-refused'),
  preconditionFailed: patternOf('precondition-failed'),
  cpuLevel: patternOf('cpu-level'),
  unknownHost: patternOf('unknown-host'),
  outOfMemory: patternOf('out-of-memory'),
  conflict: patternOf('conflict'),
} as const

/**
 * Whether a piece of log tells of a lock that was released without having been taken: by Liquibase before 4.29.2
 * (FIELD-NOTES.md 2).
 */
export function releasesForeignLock(log: string): boolean {
  const { lockWaiting, lockRefused, lockTaken, lockReleased } = logSignatures
  return lockReleased.test(log) && !lockTaken.test(log) && (lockWaiting.test(log) || lockRefused.test(log))
}

/**
 * Who held the lock that the last start of the service released after it had waited for it in vain, as its records
 * tell, oldest first (FIELD-NOTES.md 2); null: it ended otherwise.
 */
export function stolenFrom(records: readonly string[]): string | null {
  const { lockWaiting, lockRefused, lockTaken, lockReleased } = logSignatures
  const told = records.filter((text) =>
    [lockWaiting, lockRefused, lockTaken, lockReleased].some((signature) => signature.test(text)),
  )
  const last = told.findLastIndex((text) => !lockRefused.test(text))
  const [waited = '', released = '', refused = ''] = told.slice(Math.max(0, last - 1))
  if (last < 1 || !lockWaiting.test(waited) || !lockReleased.test(released) || !lockRefused.test(refused)) return null
  return /Currently locked by ((?:(?!Currently locked by ).)+?) since /.exec(refused)?.[1] ?? 'another one'
}

// where a record is an object of JSON, the name is followed by a quotation mark or an escaped end of line
const unknownHost = /java\.net\.UnknownHostException:[ \t]*((?!:[^:]|:$)[^\s,;()"'\\]+)/
const everyUnknownHost = new RegExp(unknownHost, 'g')
const firstUnknownHost = new RegExp(`^${unknownHost.source}`)

/** Host names in `java.net.UnknownHostException: HOST[: …]` of a record, each once (SPEC.md 7). */
export function unknownHosts(text: string): string[] {
  return [...new Set([...text.matchAll(everyUnknownHost)].map(([, name]) => hostName(name!)))]
}

/** The host name in a text that begins with the exception; null: it names none. */
export function unknownHostAt(text: string): string | null {
  const name = firstUnknownHost.exec(text)?.[1]
  return name === undefined ? null : hostName(name)
}

/**
 * A name goes up to a colon, which an IPv6 address is full of; one more stands behind it (`fd00::2: Name or service not
 * known`).
 */
function hostName(written: string): string {
  const [, address] =
    /^\[?([0-9a-f:.]{2,45}(?:%[\w.-]{1,64})?)\]?:?$/i.exec(written.replace(/([^:]|[^:]::):$/, '$1')) ?? []
  const isIpv6 =
    address !== undefined &&
    (address.includes('::') || /^(?:[0-9a-f]{1,4}:){7}|^(?:[0-9a-f]{1,4}:){6}\d+\./i.test(address))
  const name = isIpv6 ? address.replace(/(?<!:):$/, '') : written.replace(/:.*/s, '')
  return name.replace(/\.$/, '').toLowerCase()
}

/** A queue or exchange that exists with another argument than was asked for (FIELD-NOTES.md 3). */
export interface ArgumentConflict {
  kind: 'queue' | 'exchange'
  name: string
  vhost: string
  argument: string
  /** as the broker words it: `'true'`, `the value 'quorum' of type 'longstr'`, `none` */
  wanted: string
  current: string
}

const inequivalent =
  /PRECONDITION_FAILED - inequivalent arg '([^']*)' for (queue|exchange) '([^\n]{0,255}?)' in vhost '([^\n]{0,255}?)': received ('[^']*'|none|the value '[^']*' of type '[^']*') but current is ('[^']*'|none|the value '[^']*' of type '[^']*')/g

/** Every declaration that a record tells was refused for an argument. */
export function argumentConflicts(text: string): ArgumentConflict[] {
  return [...text.matchAll(inequivalent)].map(([, argument, kind, name, vhost, wanted, current]) => ({
    kind: kind === 'exchange' ? 'exchange' : 'queue',
    name: name!,
    vhost: vhost!,
    argument: argument!,
    wanted: wanted!,
    current: current!,
  }))
}

/** The same of `durable`, with its values (SERVERS.md). */
export interface DurableConflict {
  kind: 'queue' | 'exchange'
  name: string
  vhost: string
  wanted: boolean
  current: boolean
}

/** Every declaration that a record tells was refused for `durable`. */
export function durableConflicts(text: string): DurableConflict[] {
  return argumentConflicts(text)
    .filter(({ argument }) => argument === 'durable')
    .map(({ kind, name, vhost, wanted, current }) => ({
      kind,
      name,
      vhost,
      wanted: wanted === "'true'",
      current: current === "'true'",
    }))
}

export interface DeclaredQueue {
  name: string
  durable: boolean
  autoDelete: boolean | null
  exclusive: boolean | null
}

const declared =
  /Auto-declaring a non-durable, auto-delete, or exclusive Queue \(([^\n]{0,255}?)\)\s*durable:(true|false)(?:,\s*auto-delete:(true|false))?(?:,\s*exclusive:(true|false))?/g

/**
 * Queues that Spring AMQP says it declares: those that are not durable, or auto-delete, or exclusive (FIELD-NOTES.md
 * 3).
 */
export function declaredQueues(text: string): DeclaredQueue[] {
  return [...text.matchAll(declared)].map(([, name, durable, autoDelete, exclusive]) => ({
    name: name!,
    durable: durable === 'true',
    autoDelete: autoDelete === undefined ? null : autoDelete === 'true',
    exclusive: exclusive === undefined ? null : exclusive === 'true',
  }))
}

const declaredExchange = /Auto-declaring a non-durable or auto-delete Exchange \(([^\n]{0,255}?)\)\s*durable:/g

/** Exchanges that Spring AMQP says it declares: those that are not durable, or auto-delete (FIELD-NOTES.md 3). */
export function declaredExchanges(text: string): string[] {
  return [...text.matchAll(declaredExchange)].map(([, name]) => name!)
}
