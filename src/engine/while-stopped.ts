import { setTimeout as sleep } from 'node:timers/promises'
import { startedByOthers } from '../core/by-others.ts'
import { AdminError } from '../core/error.ts'
import type { ServiceStatus } from '../core/sources.ts'
import type { Running } from './running.ts'

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
export function isStarted({ state, startsAgain }: ServiceStatus): boolean {
  return state === 'running' || startsAgain === true
}

/**
 * Works while the service is to be stopped. Where an instance of it appears, the work's signal is given up and
 * INTERRUPTED is thrown, even where the work has come to its end by then, or to another failure. A platform that does
 * not answer for a while is asked again. `appeared` is given up for that reason alone.
 */
export async function whileStopped<T>(
  { workshop: { open, signal } }: Pick<Running, 'workshop'>,
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
  open: Running['workshop']['open'],
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
export async function isStoppedNow({ open }: Pick<Running['workshop'], 'open'>): Promise<boolean> {
  const status = await statusOf(open)
  return status !== null && status.state === 'stopped' && status.startsAgain !== true
}

async function statusOf(open: Running['workshop']['open']): Promise<ServiceStatus | null> {
  try {
    return await (await open.service()).status()
  } catch (error) {
    if (error instanceof AdminError) return null
    throw error
  }
}
