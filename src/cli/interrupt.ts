import { setMaxListeners } from 'node:events'
import { AdminError } from '../core/error.ts'

/**
 * Runs something that Ctrl-C and SIGTERM interrupt: its signal is aborted, and an `AdminError` INTERRUPTED is thrown
 * even where it does not listen, so that what is open gets closed. A second Ctrl-C ends the process at once.
 */
export async function interruptible<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  return withInterrupts(async (signal) => {
    const interrupted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as AdminError), { once: true })
    })
    return Promise.race([run(signal), interrupted])
  })
}

/** Gives a signal that Ctrl-C and SIGTERM abort, to something that ends by itself when it is aborted. */
export async function withInterrupts<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  // everything that is open at a time listens, which is more than Node takes for usual
  setMaxListeners(0, controller.signal)
  const unheard = (): void => {
    process.removeListener('SIGINT', stop)
    process.removeListener('SIGTERM', stop)
  }
  // not `once`: libraries that clean up at exit take a signal whose listeners are gone for one that is to end the process
  const stop = (signal: NodeJS.Signals): void => {
    if (controller.signal.aborted) {
      unheard()
      process.kill(process.pid, signal)
    } else controller.abort(new AdminError('INTERRUPTED', `interrupted by ${signal}`))
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  try {
    return await run(controller.signal)
  } finally {
    unheard()
  }
}

/** Waits; false where the signal came first. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false
  return new Promise((resolve) => {
    const stop = (): void => {
      clearTimeout(timer)
      resolve(false)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve(true)
    }, milliseconds)
    signal.addEventListener('abort', stop, { once: true })
  })
}
