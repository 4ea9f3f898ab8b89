import { setTimeout as sleep } from 'node:timers/promises'
import { startedByOthers } from '../core/by-others.ts'
import { AdminError } from '../core/error.ts'
import type { ServiceStatus } from '../core/sources.ts'
import type { Run } from './run.ts'
import { handlerOf } from '../actions/index.ts'
import type { Plan, Step } from '../core/plan.ts'
import { workshopOf } from './run.ts'

/**
 * how often it is looked whether the service is still stopped: an instance is noticed within 5 s (DESIGN.md 6.8), also
 * during a long step
 */
const lookMs = 1500
/** so many looks may be on their way: one that is lost on a dead connection is not to blind those after it */
const mostLooks = 4
/** how long a step that is given up may take to end */
const endMs = 2000

/**
 * What is known of the service while steps under a stop are worked on: it counts as started by others only once it was
 * seen stopped.
 */
export interface SeenStopped {
  stopped: boolean
}

/** An instance runs, or is about to be started again by whatever has started it. */
function isStarted({ state, startsAgain }: ServiceStatus): boolean {
  return state === 'running' || startsAgain === true
}

/**
 * Works while the service is to be stopped. Where an instance of it appears, the work's signal is given up and
 * INTERRUPTED is thrown, even where the work has come to its end by then, or to another failure. A platform that does
 * not answer for a while is asked again. `appeared` is given up for that reason alone.
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
  // told by what is thrown below
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
 * Waits for work that should end once an instance appeared; what does not goes on unheard, and ends with the process as
 * if that were killed.
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

/** How the service is once it is started; null: the work was over before. */
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

/**
 * What a step fails of while an instance runs is told as that. What is refused has an end of its own: nothing was
 * changed.
 */
function isOfAppearance(error: unknown): boolean {
  return error instanceof AdminError && error.code !== 'REFUSED' && error.code !== 'BUSY'
}

/** False where that cannot be told. */
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

/** A state that has to last while the steps after it are performed. */
export function holds({ action }: Step): boolean {
  return (
    action.kind === 'stop-service' ||
    action.kind === 'keep-queues' ||
    action.kind === 'await-quiet' ||
    action.kind === 'fetch-image'
  )
}

/**
 * What is there for the steps after it alone: no message, setting or declaration of the service's is touched by it. A
 * queue that is held open is: what it holds is moved aside where this program ends and nobody else reads from it.
 */
export function prepares({ action }: Step): boolean {
  return ['stop-service', 'await-quiet', 'hold-queues', 'drain-queues', 'fetch-image'].includes(action.kind)
}

/** An edit of files that is there for the upgrade after it. */
export function isForUpgrade({ steps }: Plan, { action }: Step): boolean {
  return action.kind === 'edit-values' && steps.some((step) => step.action.kind === 'upgrade-release')
}

/** Steps for which this one stops the service. */
export function stepsUnder({ steps }: Plan, index: number): number[] {
  const until = steps.findIndex(({ action }, at) => at > index && action.kind === 'start-service')
  return steps.flatMap((_, at) => (at > index && (until < 0 || at < until) ? [at] : []))
}

/**
 * Whether the service has to be stopped, now that it is about to be: something is left to do, and can be done. Throws
 * REFUSED where that would be refused afterwards, since users are not to be cut off for nothing.
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

/**
 * Throws what any step that is not done yet would throw for certain: before the first of them, nothing at all is
 * changed then.
 */
export async function foreseeAll(run: Run): Promise<void> {
  for (const [at, { action }] of run.record.plan.steps.entries()) {
    const handler = handlerOf(action)
    const workshop = workshopOf(run, at)
    if (handler.foresee && !(await handler.isDone(action, workshop))) await handler.foresee(action, workshop)
  }
}

/** Whether the service is to be stopped while that step is performed. */
export function isUnderStop({ steps }: Plan, index: number): boolean {
  const before = steps.slice(0, index).map(({ action }) => action.kind)
  return (
    before.lastIndexOf('stop-service') > before.lastIndexOf('start-service') &&
    steps[index]?.action.kind !== 'start-service'
  )
}

/** While the service is to be stopped, something else may start it again (DESIGN.md 6.8). Throws INTERRUPTED. */
export async function refuseIfStarted({ workshop: { open } }: Pick<Run, 'workshop'>): Promise<void> {
  const status = await (await open.service()).status()
  if (isStarted(status)) throw startedByOthers(status)
}
