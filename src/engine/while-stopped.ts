import { setTimeout as sleep } from 'node:timers/promises'
import { startedByOthers } from '../core/by-others.ts'
import { AdminError } from '../core/error.ts'
import type { ServiceStatus } from '../core/sources.ts'
import type { Run } from './run.ts'
import { handlerOf } from '../actions/index.ts'
import type { Plan, Step } from '../core/plan.ts'
import { workshopOf } from './run.ts'

/**
 * Milliseconds between two checks that the service is still stopped. An instance is noticed within 5 s (DESIGN.md 6.8),
 * also during a long step.
 */
const lookMs = 1000
/** Maximum number of checks in flight: one that is lost on a dead connection must not block the next ones */
const mostLooks = 5
/** Milliseconds that an aborted step may take to end */
const endMs = 2000

/**
 * Whether the service has been seen stopped, while steps under a stop run. Only then does an instance count as started
 * by others.
 */
export interface SeenStopped {
  stopped: boolean
}

/** True if an instance runs, or is about to be started again by whatever started it. */
function isStarted({ state, startsAgain }: ServiceStatus): boolean {
  return state === 'running' || startsAgain === true
}

/**
 * Runs work while the service must be stopped. If an instance appears, aborts the work's signal and throws INTERRUPTED,
 * even if the work has finished or failed by then; a refusal is thrown as it is. Asks again if the platform does not
 * answer for a while. `appeared` is aborted only if an instance appears.
 */
export async function whileStopped<T>(
  { workshop: { open, signal } }: Pick<Run, 'workshop'>,
  work: (signal: AbortSignal, appeared: AbortSignal) => Promise<T>,
  seen: SeenStopped = { stopped: true },
): Promise<T> {
  const over = new AbortController()
  const appeared = new AbortController()
  const watching = watch(open, seen, over.signal).then((status) => {
    if (status) appeared.abort(startedByOthers(status))
  })
  // thrown below, as the reason of `appeared`
  watching.catch((error: unknown) => appeared.abort(error))
  try {
    const done = await work(AbortSignal.any([signal, appeared.signal]), appeared.signal)
    appeared.signal.throwIfAborted()
    return done
  } catch (error) {
    throw appeared.signal.aborted && isOfAppearance(error) ? appeared.signal.reason : error
  } finally {
    over.abort()
  }
}

/**
 * Waits for work that should end once an instance appeared. Work that takes too long is ignored, and ends with the
 * process as if killed.
 */
export async function unlessLate<T>(work: Promise<T>, appeared: AbortSignal): Promise<T> {
  const ended = new AbortController()
  const late = new Promise<never>((_, reject) => {
    const giveUp = (): void =>
      void sleep(endMs, undefined, { signal: ended.signal }).then(
        () => reject(appeared.reason as Error),
        () => undefined,
      )
    appeared.addEventListener('abort', giveUp, { once: true, signal: ended.signal })
  })
  return Promise.race([work, late]).finally(() => ended.abort())
}

/** Returns the status of the service once it is started; null if the work ended first. */
async function watch(
  open: Run['workshop']['open'],
  seen: SeenStopped,
  over: AbortSignal,
): Promise<ServiceStatus | null> {
  return new Promise((resolve, reject) => {
    let looking = 0
    const look = async (): Promise<void> => {
      looking += 1
      const status = await statusOf(open).finally(() => (looking -= 1))
      if (status !== null && seen.stopped && isStarted(status)) resolve(status)
    }
    const timer = setInterval(() => {
      if (looking < mostLooks) look().catch(reject)
    }, lookMs)
    over.addEventListener('abort', () => {
      clearInterval(timer)
      resolve(null)
    })
  })
}

/** True if an error counts as caused by the instance that appeared. A refusal does not: it changed nothing. */
function isOfAppearance(error: unknown): boolean {
  return error instanceof AdminError && error.code !== 'REFUSED' && error.code !== 'BUSY'
}

/** True if the service is stopped and nothing starts it again; false if that cannot be read. */
export async function isStoppedNow({ open }: Pick<Run['workshop'], 'open'>): Promise<boolean> {
  const status = await statusOf(open)
  return status !== null && status.state === 'stopped' && status.startsAgain !== true
}

async function statusOf(open: Run['workshop']['open']): Promise<ServiceStatus | null> {
  try {
    return await (await open.service()).status()
  } catch (error) {
    if (error instanceof AdminError) return null
    throw error
  }
}

/** True if a step creates a state that must last while the following steps run. */
export function holds({ action }: Step): boolean {
  return (
    action.kind === 'stop-service' ||
    action.kind === 'keep-queues' ||
    action.kind === 'await-quiet' ||
    action.kind === 'fetch-image'
  )
}

/**
 * True if a step only serves the steps after it and touches no message, setting or declaration of the service.
 * Exception: a queue held open, whose messages are moved aside if this program ends and nobody else reads from it.
 */
export function prepares({ action }: Step): boolean {
  return ['stop-service', 'await-quiet', 'hold-queues', 'drain-queues', 'fetch-image'].includes(action.kind)
}

/** True if a step edits files for a later upgrade. */
export function isForUpgrade({ steps }: Plan, { action }: Step): boolean {
  return action.kind === 'edit-values' && steps.some((step) => step.action.kind === 'upgrade-release')
}

/** Returns the steps for which the stop at `index` must last. */
export function stepsUnder({ steps }: Plan, index: number): number[] {
  const until = steps.findIndex(({ action }, at) => at > index && action.kind === 'start-service')
  return steps.flatMap((_, at) => (at > index && (until < 0 || at < until) ? [at] : []))
}

/**
 * True if the service must be stopped now: something is left to do and can be done. Throws REFUSED if a step would be
 * refused after the stop, so that users are not cut off for nothing.
 */
export async function isStopNeeded(run: Run, index: number, done: ReadonlySet<number>): Promise<boolean> {
  const under = stepsUnder(run.record.plan, index)
  let isNeeded = under.length === 0
  for (const at of under.filter((it) => !done.has(it))) {
    const { action } = run.record.plan.steps[at]!
    const handler = handlerOf(action)
    const workshop = workshopOf(run, at)
    if (await handler.isDone(action, workshop)) continue
    isNeeded = true
    await handler.foresee?.(action, workshop)
  }
  return isNeeded
}

/** Throws what any remaining step is certain to throw. Called before the first step, when nothing has been changed. */
export async function foreseeAll(run: Run): Promise<void> {
  for (const [at, { action }] of run.record.plan.steps.entries()) {
    const handler = handlerOf(action)
    const workshop = workshopOf(run, at)
    if (handler.foresee && !(await handler.isDone(action, workshop))) await handler.foresee(action, workshop)
  }
}

/** True if the service must be stopped while that step runs. */
export function isUnderStop({ steps }: Plan, index: number): boolean {
  const before = steps.slice(0, index).map(({ action }) => action.kind)
  return (
    before.lastIndexOf('stop-service') > before.lastIndexOf('start-service') &&
    steps[index]?.action.kind !== 'start-service'
  )
}

/** Throws INTERRUPTED if something else started the service while it must be stopped (DESIGN.md 6.8). */
export async function refuseIfStarted({ workshop: { open } }: Pick<Run, 'workshop'>): Promise<void> {
  const status = await (await open.service()).status()
  if (isStarted(status)) throw startedByOthers(status)
}
