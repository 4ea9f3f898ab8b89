import { patternOf } from './signatures.ts'

/** Signatures by the names that checks use. They match whole records, so continuation lines too. */
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
 * True if a piece of log shows that a lock was released without having been taken: by Liquibase before 4.29.2
 * (FIELD-NOTES.md 2).
 */
export function releasesForeignLock(log: string): boolean {
  const { lockWaiting, lockRefused, lockTaken, lockReleased } = logSignatures
  return lockReleased.test(log) && !lockTaken.test(log) && (lockWaiting.test(log) || lockRefused.test(log))
}

/**
 * Returns who held the lock that the service's last start released after waiting for it in vain (FIELD-NOTES.md 2).
 * `records`: its log, oldest first. Null if the start ended otherwise.
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

/** Returns the host names in `java.net.UnknownHostException: HOST[: …]` of a record, each once (SPEC.md 7). */
export function unknownHosts(text: string): string[] {
  return [...new Set([...text.matchAll(everyUnknownHost)].map(([, name]) => hostName(name!)))]
}

/** Returns the host name in a text that begins with the exception; null if it names none. */
export function unknownHostAt(text: string): string | null {
  const name = firstUnknownHost.exec(text)?.[1]
  return name === undefined ? null : hostName(name)
}

/**
 * Returns the host name, which ends at a colon. An IPv6 address is full of colons, and one more follows it (`fd00::2:
 * Name or service not known`).
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
  /** As the broker words it: `'true'`, `the value 'quorum' of type 'longstr'`, `none` */
  wanted: string
  current: string
}

const inequivalent =
  /PRECONDITION_FAILED - inequivalent arg '([^']*)' for (queue|exchange) '([^\n]{0,255}?)' in vhost '([^\n]{0,255}?)': received ('[^']*'|none|the value '[^']*' of type '[^']*') but current is ('[^']*'|none|the value '[^']*' of type '[^']*')/g

/** Returns every declaration that a record shows as refused for an argument. */
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

/** The same for `durable`, with its values (SERVERS.md). */
export interface DurableConflict {
  kind: 'queue' | 'exchange'
  name: string
  vhost: string
  wanted: boolean
  current: boolean
}

/** Returns every declaration that a record shows as refused for `durable`. */
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
 * Returns queues that Spring AMQP says it declares: those that are not durable, or auto-delete, or exclusive
 * (FIELD-NOTES.md 3).
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

/** Returns exchanges that Spring AMQP says it declares: not durable, or auto-delete (FIELD-NOTES.md 3). */
export function declaredExchanges(text: string): string[] {
  return [...text.matchAll(declaredExchange)].map(([, name]) => name!)
}
