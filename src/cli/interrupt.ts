import { setMaxListeners } from 'node:events'
import { constants } from 'node:os'
import { AdminError } from '../core/error.ts'

/**
 * Runs something that Ctrl-C, SIGTERM and a closed terminal interrupt: its signal is aborted, and an `AdminError`
 * INTERRUPTED is thrown even where it does not listen, so that what is open gets closed. A second Ctrl-C ends the
 * process at once.
 */
export async function interruptible<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  return withInterrupts(async (signal) => {
    const interrupted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as AdminError), { once: true })
    })
    return Promise.race([run(signal), interrupted])
  })
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Gives a signal that Ctrl-C, SIGTERM and a closed terminal abort, to something that ends by itself when it is aborted.
 * `abandon`: is told where somebody does not want to wait for that, has the last word, and says the exit code.
 */
export async function withInterrupts<T>(
  run: (signal: AbortSignal) => Promise<T>,
  abandon: (signal: NodeJS.Signals) => number = killedBy,
): Promise<T> {
  const controller = new AbortController()
  // everything that is open at a time listens, which is more than Node takes for usual
  setMaxListeners(0, controller.signal)
  // not `once`: libraries that clean up at exit take a signal whose listeners are gone for one that is to end the
  // process
  const stop = (signal: NodeJS.Signals): void => {
    if (controller.signal.aborted) exit(abandon(signal))
    else controller.abort(new AdminError('INTERRUPTED', `interrupted by ${signal}`))
  }
  for (const name of signals) process.on(name, stop)
  try {
    return await run(controller.signal)
  } finally {
    for (const name of signals) {
      process.removeListener(name, stop)
      // what was started may take a moment to end; how it went is being told
      if (controller.signal.aborted) process.on(name, quit)
    }
  }
}

function quit(signal: NodeJS.Signals): void {
  exit(killedBy(signal))
}

/** As a shell has it. */
function killedBy(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal]
}

/** An orderly exit at once, so that what programs were started are ended with it. */
function exit(code: number): void {
  // eslint-disable-next-line no-restricted-properties -- whoever asks twice does not want to wait
  process.exit(code)
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
