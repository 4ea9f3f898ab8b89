import { withoutSecrets } from '../core/redaction/index.ts'
import type { Suggestion } from '../core/shell-command.ts'
import type { LogRecord } from '../core/sources.ts'
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

const valueOfArgument = "('[^']*'|none|the value '[^']*' of type '[^']*')"
const inequivalent = new RegExp(
  String.raw`PRECONDITION_FAILED - inequivalent arg '([^']*)' for (queue|exchange) '([^\n]{0,255}?)' ` +
    String.raw`in vhost '([^\n]{0,255}?)': received ${valueOfArgument} but current is ${valueOfArgument}`,
  'g',
)

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
interface DurableConflict {
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

interface DeclaredQueue {
  name: string
  durable: boolean
  autoDelete: boolean | null
  exclusive: boolean | null
}

const declared = new RegExp(
  String.raw`Auto-declaring a non-durable, auto-delete, or exclusive Queue \(([^\n]{0,255}?)\)\s*` +
    String.raw`durable:(true|false)(?:,\s*auto-delete:(true|false))?(?:,\s*exclusive:(true|false))?`,
  'g',
)

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

/** What the last words of a service mean if it ended by itself. */
export interface CrashReason {
  sign: RegExp
  /** Why it ended, for people */
  means: string
  /** The check whose text says more, as `explain` takes it */
  explain: string
  /** What to do about it; absent: restart it, once the checks of the parts find nothing */
  next?: Suggestion
}

const edit: Suggestion = '{edit}'

/** A login that PostgreSQL (28P01), RabbitMQ or Redis refuses. */
const refusedLogin = /password authentication failed for user|ACCESS_REFUSED|WRONGPASS|NOAUTH Authentication required/

/** Reasons of a run that has ended: first what certainly ends it, last what it may have survived. */
export const crashReasons: readonly CrashReason[] = [
  {
    sign: logSignatures.cpuLevel,
    means: 'its image needs x86-64-v3, which the processor lacks',
    explain: 'service/cpu-level',
  },
  { sign: logSignatures.outOfMemory, means: 'its JVM had no memory left', explain: 'service/crashes', next: edit },
  {
    sign: logSignatures.lockRefused,
    means: 'it did not get the change-log lock in time',
    explain: 'database/changelog-lock',
  },
  {
    sign: logSignatures.transientRefused,
    means: 'the broker refuses its transient queues',
    explain: 'broker/queues-durable',
  },
  {
    sign: logSignatures.preconditionFailed,
    means: 'its queues already exist, but with different properties than it requests',
    explain: 'broker/queues-durable',
  },
]

/** Reasons that count only in the error with which the run ended: at other times each may be harmless. */
export const crashReasonsInError: readonly CrashReason[] = [
  {
    sign: refusedLogin,
    means: 'its login to PostgreSQL, RabbitMQ or Redis was rejected',
    explain: 'database/reachable',
    next: edit,
  },
  {
    sign: logSignatures.unknownHost,
    means: 'a host name in its settings does not resolve',
    explain: 'service/crashes',
    next: edit,
  },
  {
    sign: /Connection to \S+ refused|The connection attempt failed/,
    means: 'it cannot reach its database',
    explain: 'database/reachable',
  },
  {
    sign: /Port \d+ was already in use|Address already in use/,
    means: 'another program uses its port',
    explain: 'service/crashes',
    next: 'sudo ss -ltnp',
  },
]

/** The reason if something ended the service while it waited: its last line says so. */
export const lastWait: CrashReason = {
  sign: logSignatures.lockWaiting,
  means: 'it was killed while it waited for the change-log lock',
  explain: 'database/changelog-lock',
}

/**
 * A call to an external system, as the service's log shows it. SPEC.md 7 names `HTTP FAILED`, `400 bad request` and
 * `UnknownHostException`. OkHttp's HttpLoggingInterceptor writes the first if no answer came, so its other lines are
 * read too: `--> GET URL`, `<-- 401 Unauthorized URL (12ms, 0-byte body)`. Over HTTP/2 an answer has no words beside
 * its number, and since OkHttp 5 a failure names its address.
 */
export interface LoggedCall {
  at: Date | null
  /** Without user, password, query and fragment, and without a path that contains a key; null if the log names none */
  url: string | null
  /** With its port, if the address names one; null if the log names none */
  host: string | null
  /** Null if no answer came */
  status: number | null
  /** The exception, if no answer came */
  failure: string | null
  /** The line that shows it */
  line: string
}

/** Most records show no call, and are not searched line by line */
const hint = /--> |<-- |400 bad request/i
const asked = /--> [A-Z]+ (https?:\/\/\S+)/
const answered = /<-- (\d{3})(?: (?:(?!<-- )[^\n])*?)? (https?:\/\/\S+) \(\d+ms/
const failed = /<-- HTTP FAILED: ([^\n]*)/
const badRequest = patternOf('bad-request')
const address = /https?:\/\/[^\s"'<>)\]]+/
const thread = /---\s+((?:\[[^\]\n]{0,200}\]\s*)+)/
/** A call that the service itself gave up says nothing of the other side */
const cancelled = /\bCanceled\b/

/** Returns calls, oldest first like the records. What OkHttp says of a host replaces other lines that say the same. */
export function loggedCalls(records: readonly LogRecord[]): LoggedCall[] {
  const calls: (LoggedCall & { isOkHttp: boolean })[] = []
  const pending = new Map<string, string>()
  for (const { at, text } of records) {
    if (!hint.test(text)) continue
    const on = thread.exec(text)?.[1]?.trim() ?? ''
    for (const line of text.split('\n')) {
      const question = asked.exec(line)?.[1]
      if (question !== undefined) pending.set(on, question)
      const call = callIn(line, pending.get(on))
      if (call) calls.push({ at, line: line.trim(), ...call })
      if (call?.isOkHttp) pending.delete(on)
    }
  }
  const told = new Set(calls.flatMap(({ isOkHttp, status, host }) => (isOkHttp && status === 400 ? [host] : [])))
  return calls.filter(({ isOkHttp, host }) => isOkHttp || !told.has(host)).map(({ isOkHttp: _, ...call }) => call)
}

function callIn(
  line: string,
  question: string | undefined,
): (Omit<LoggedCall, 'at' | 'line'> & { isOkHttp: boolean }) | null {
  const answer = answered.exec(line)
  if (answer) return { ...placed(answer[2]), status: Number(answer[1]), failure: null, isOkHttp: true }
  const failure = failed.exec(line)?.[1]
  if (failure !== undefined) {
    if (cancelled.test(failure)) return null
    const place = placed(address.exec(failure)?.[0] ?? question)
    return { ...place, host: place.host ?? hostIn(failure), status: null, failure, isOkHttp: true }
  }
  return badRequest.test(line)
    ? { ...placed(address.exec(line)?.[0]), status: 400, failure: null, isOkHttp: false }
    : null
}

function placed(found: string | undefined): Pick<LoggedCall, 'url' | 'host'> {
  const bare = found?.replace(/(?<![.,;])[.,;]+$/, '') ?? ''
  if (!URL.canParse(bare)) return { url: null, host: null }
  const { protocol, host, pathname } = new URL(bare)
  const url = `${protocol}//${host}${pathname}`
  // such a path signs in by itself: neither shown nor called
  return { url: withoutSecrets(url) === url ? url : `${protocol}//${host}/`, host }
}

/** Returns the host in `UnknownHostException: HOST` or `Failed to connect to HOST/10.0.0.7:443`; otherwise null. */
function hostIn(failure: string): string | null {
  const found = /UnknownHostException:\s*([^\s:,;()]+)|Failed to connect to ([^\s/:]+|\[[^\]]*\])/.exec(failure)
  return (found?.[1] ?? found?.[2])?.toLowerCase() ?? null
}
