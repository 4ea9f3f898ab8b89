import { sharedAnswers } from '../core/answers.ts'
import type { Check, Result } from '../core/check.ts'
import type { Deployment } from '../core/deployment.ts'
import type { ErrorCode, Obstacle } from '../core/error.ts'
import { AdminError, isUntried, messageOf } from '../core/error.ts'
import type { SourceName, Sources } from '../core/sources.ts'
import { withMoreTime } from '../core/typed.ts'

/**
 * Opens each source; each is called at most once. Throws AdminError NOT_CONFIGURED if the deployment has no such part.
 */
export type OpenSources = { readonly [K in SourceName]: () => Promise<Sources[K]> }

/** A source that opened, or the error from opening it. */
type Opening<T> = { source: T } | { error: unknown }

export type ShareSource = <K extends SourceName>(name: K) => Promise<Opening<Sources[K]>>

/** Opens sources on first use and shares them among the checks. Never throws: a failure is a value, shared too. */
export function shareSources(open: OpenSources, times: Times): ShareSource {
  const openings = sharedAnswers({ keep: 'everything' })
  return async <K extends SourceName>(name: K) =>
    openings.to(name, async () => attempt<Sources[K]>(name, open[name], times))
}

/** Milliseconds for each check, and for opening each source. */
export interface Times {
  /** As it is told */
  deadlineMs: number
  /** How long it really waits; absent: as long as is told */
  waitMs?: number | undefined
}

async function attempt<T extends object>(
  name: SourceName,
  open: () => Promise<T>,
  { deadlineMs, waitMs = deadlineMs }: Times,
): Promise<Opening<T>> {
  const late = (): AdminError =>
    new AdminError('TIMED_OUT', `opening ${names[name]} timed out after ${deadlineMs / 1000} s`)
  try {
    const source = await withDeadline(open(), waitMs, late)
    const remembered = Array.isArray(source) ? source.map((one: object) => remember(one)) : remember(source)
    return { source: remembered as T }
  } catch (error) {
    return { error }
  }
}

const names: Record<SourceName, string> = {
  database: 'the database',
  broker: 'the broker',
  sessions: 'the session store',
  service: "the platform's view of the service",
  api: "the service's API",
  logs: "the service's log",
  accessLog: 'the access log',
  network: 'name resolution on this machine',
  runs: 'the saved records of repairs on this machine',
  files: 'the settings files',
  release: 'the Helm release',
}

/**
 * Wraps a source so that each question is asked once: later callers share the first answer or failure. All checks of a
 * run judge one state, and a question that several ask costs the deployment one call.
 */
function remember<T extends object>(source: T): T {
  const answers = sharedAnswers({ keep: 'everything' })
  return new Proxy(source, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target)
      if (typeof value !== 'function') return value
      return (...input: unknown[]): unknown =>
        answers.to(`${String(property)} ${JSON.stringify(input)}`, (): unknown => Reflect.apply(value, target, input))
    },
  })
}

/**
 * Waits for `work` for at most `milliseconds`, then rejects with the error of `late`; the outcome of `work` is ignored.
 */
export async function withDeadline<T>(work: Promise<T>, milliseconds: number, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const end = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), milliseconds)
  })
  try {
    return await Promise.race([work, end])
  } finally {
    clearTimeout(timer)
  }
}

interface Circumstances extends Times {
  share: ShareSource
  /** All checks of this run; one of them may guard a source */
  checks: readonly Check[]
  deployment: Deployment
}

interface Failure {
  name: SourceName
  error: unknown
}

/** Runs one check on the sources it reads; never throws. */
export async function judge(
  check: Check,
  { share, checks, deployment, deadlineMs, waitMs = deadlineMs }: Circumstances,
): Promise<Result> {
  const reads = unique([...check.reads, ...(check.guards ? [check.guards] : [])])
  const wants = (check.wants ?? []).filter((name) => !reads.includes(name))
  const openings = await Promise.all([...reads, ...wants].map(async (name) => ({ name, opening: await share(name) })))
  const failures = openings.flatMap(({ name, opening }) => ('error' in opening ? [{ name, error: opening.error }] : []))
  const needed = failures.filter(({ name }) => reads.includes(name))
  if (needed.length > 0) return withoutSources(check, needed, { checks, deployment })
  const sources = Object.fromEntries(
    openings.map(({ name, opening }) => [name, sourceOrError(opening)]),
  ) as unknown as Sources
  const late = (): AdminError =>
    new AdminError('TIMED_OUT', `check \`${check.id}\` did not finish within ${deadlineMs / 1000} s`, [
      withMoreTime(check.id, deadlineMs),
    ])
  try {
    const running = check.run(sources, deployment)
    return check.isTimed ? await running : await withDeadline(running, waitMs, late)
  } catch (error) {
    // a check may fail because of a source that it only wants
    const failure = failures.find((it) => it.error === error)
    return failure ? becauseOf(failure, check, checks) : asResult(error)
  }
}

/** Returns the result of a check some of whose sources cannot be opened. */
function withoutSources(
  check: Check,
  failures: readonly Failure[],
  { checks, deployment }: Pick<Circumstances, 'checks' | 'deployment'>,
): Result {
  const missing = failures.find(({ error }) => isNotConfigured(error))
  if (missing) return asResult(missing.error)
  const own = failures.find(({ name }) => name === check.guards)
  if (own?.error instanceof AdminError && !isUntried(own.error)) return problemOf(own.error, check, deployment)
  const told = failures.find(({ name, error }) => !isUntried(error) && guardOf(name, check, checks))
  return becauseOf(told ?? failures[0]!, check, checks)
}

/** Blames a source that cannot be opened on the check that guards it, unless the source was not even tried. */
function becauseOf({ name, error }: Failure, check: Check, checks: readonly Check[]): Result {
  const guard = guardOf(name, check, checks)
  return guard && !isNotConfigured(error) && !isUntried(error)
    ? { status: 'unknown', error, because: guard.id }
    : asResult(error)
}

function guardOf(name: SourceName, check: Check, checks: readonly Check[]): Check | undefined {
  return checks.find((other) => other.guards === name && other.id !== check.id)
}

/** OpenSSL's own wording of an error; our message already says what it means */
const rawTls = /(?:^|:)error:[0-9A-F]{8}:/

/** Returns the problem of the check that guards a source: what the error says, its evidence, and its remedy. */
function problemOf(error: AdminError, check: Check, deployment: Deployment): Result {
  const cause =
    error.cause === undefined
      ? []
      : [messageOf(error.cause).trim()].filter((text) => !error.message.includes(text) && !rawTls.test(text))
  return {
    status: 'problem',
    severity: 'error',
    isUnopened: true,
    ...(isOwn(error) && { isOwn: true }),
    ...(isApart(error) && { isApart: true }),
    findings: [{ message: error.message, evidence: [...error.suggestions, ...cause] }],
    ...(check.unopened && { remedy: check.unopened(error, deployment) }),
  }
}

/** True if this program's own login or secret fails: the service may have another. */
function isOwn({ code, obstacle }: AdminError): boolean {
  return obstacle?.kind === 'login' || code === 'SECRET_MISSING'
}

function asResult(error: unknown): Result {
  return isNotConfigured(error) ? { status: 'skipped', reason: error.message } : { status: 'unknown', error }
}

function isNotConfigured(error: unknown): error is AdminError {
  return error instanceof AdminError && error.code === 'NOT_CONFIGURED'
}

function sourceOrError(opening: Opening<unknown>): unknown {
  if ('source' in opening) return opening.source
  const { error } = opening
  return error instanceof AdminError
    ? error
    : new AdminError('UNEXPECTED_ANSWER', messageOf(error), [], { cause: error })
}

function unique<T>(items: readonly T[]): T[] {
  return [...new Set(items)]
}

const codes: readonly ErrorCode[] = ['CONFIGURATION', 'SECRET_MISSING', 'UNAVAILABLE', 'USAGE']
const kinds: readonly Obstacle['kind'][] = ['unresolved', 'unrouted', 'tls', 'client-certificate', 'misnamed', 'proxy']

/**
 * True if an error has a cause of its own, whatever else is down. A part that stops removes no DNS name, no route, no
 * certificate, and no program from this machine.
 */
export function isApart(error: unknown): boolean {
  if (!(error instanceof AdminError)) return false
  const { code, obstacle } = error
  // what ends the pods or containers of a part also closes the way to it
  if (obstacle?.kind === 'instances') return false
  return codes.includes(code) || (obstacle !== null && kinds.includes(obstacle.kind))
}
