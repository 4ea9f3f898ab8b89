import { setTimeout as sleep } from 'node:timers/promises'
import { AdminError } from '../core/error.ts'
import type { ServiceStatus } from '../core/sources.ts'
import type { Running } from './running.ts'

/** how often it is looked whether the service is still stopped: an instance is noticed within 5 s (DESIGN.md 6.8), also during a long step */
const lookMs = 1500

/** An instance runs, or is about to be started again by whatever has started it. */
export function isStarted({ state, startsAgain }: ServiceStatus): boolean {
  return state === 'running' || startsAgain === true
}

export function startedByOthers({ detail }: ServiceStatus): AdminError {
  return new AdminError('INTERRUPTED', `something else has started the service, which is to be stopped meanwhile: ${detail}`, [
    'see what started it, and keep it from doing so again',
  ])
}

/**
 * Works while the service is to be stopped. Where an instance of it appears, the work's signal is given up and INTERRUPTED is thrown, even
 * where the work has come to its end by then. A platform that does not answer for a while is asked again.
 */
export async function whileStopped<T>({ workshop: { open, signal } }: Pick<Running, 'workshop'>, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const over = new AbortController()
  const appeared = new AbortController()
  const watching = (async () => {
    for (;;) {
      await sleep(lookMs, undefined, { signal: over.signal }).catch(() => undefined)
      if (over.signal.aborted) return
      const status = await statusOf(open)
      if (status === null || over.signal.aborted || !isStarted(status)) continue
      return appeared.abort(startedByOthers(status))
    }
  })()
  // told by what is thrown below
  watching.catch((error: unknown) => appeared.abort(error))
  try {
    const done = await work(AbortSignal.any([signal, appeared.signal]))
    appeared.signal.throwIfAborted()
    return done
  } catch (error) {
    throw appeared.signal.aborted && error instanceof AdminError && error.code === 'INTERRUPTED' ? appeared.signal.reason : error
  } finally {
    over.abort()
  }
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
