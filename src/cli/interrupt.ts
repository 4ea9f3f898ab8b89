import { setMaxListeners } from 'node:events'
import { constants } from 'node:os'
import { AdminError } from '../core/error.ts'
import { Flags } from '@oclif/core'
import type { OpenOptions } from '../runtime/index.ts'
import { isReadOnly } from './repair/read-only.ts'
import { tellLine } from './write.ts'

/**
 * Runs something that Ctrl-C, SIGTERM and a closed terminal interrupt. They abort its signal. They also throw an
 * `AdminError` INTERRUPTED even if it does not listen, so that what is open gets closed. A second Ctrl-C ends the
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
 * Runs something with a signal that Ctrl-C, SIGTERM and a closed terminal abort, and waits until it ends by itself. A
 * second interrupt calls `abandon`, which has the last word and returns the exit code.
 */
export async function withInterrupts<T>(
  run: (signal: AbortSignal) => Promise<T>,
  abandon: (signal: NodeJS.Signals) => number = killedBy,
): Promise<T> {
  const controller = new AbortController()
  // everything that is open listens, which is more listeners than Node expects
  setMaxListeners(0, controller.signal)
  // not `once`: if a signal has no listener left, libraries that clean up at exit assume that it ends the process
  const stop = (signal: NodeJS.Signals): void => {
    if (controller.signal.aborted) exit(abandon(signal))
    else controller.abort(new AdminError('INTERRUPTED', `interrupted by ${signal}`))
  }
  for (const name of signals) process.on(name, stop)
  try {
    return await run(controller.signal)
  } finally {
    for (const name of signals) {
      // what was started may take a moment to end, and its outcome is still being printed. Added first: a signal that
      // comes while there is no listener kills the process, and what it started goes on
      if (controller.signal.aborted) process.on(name, quit)
      process.removeListener(name, stop)
    }
  }
}

function quit(signal: NodeJS.Signals): void {
  exit(killedBy(signal))
}

/** Returns the exit code that a shell reports for a killed process: 128 plus the signal's number. */
function killedBy(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal]
}

/** Exits at once but in order, so that the programs that were started end too. */
function exit(code: number): void {
  // oxlint-disable-next-line unicorn/no-process-exit -- a second Ctrl-C means: do not wait
  process.exit(code)
}

/** Waits this many milliseconds; returns false if the signal aborts first. */
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

/** Seconds to wait for any single answer, unless --timeout says otherwise */
export const defaultTimeoutSeconds = 10

export const relayFlag = Flags.boolean({
  summary: "Reach servers outside the cluster through the service's pod or a short-lived pod",
})

/**
 * Returns how to reach servers through a relay. `changes` says if pods may be made in the cluster, and if they must
 * last while the service is stopped.
 */
export function relayOf(
  { relay = false }: { relay?: boolean | undefined },
  changes: { mayMakePods: boolean; isLasting: boolean },
): Pick<OpenOptions, 'relay'> {
  if (!relay) return {}
  return {
    relay: {
      ...changes,
      mayMakePods: changes.mayMakePods && !isReadOnly(),
      tell: (message) => tellLine(process.stderr, message),
    },
  }
}
