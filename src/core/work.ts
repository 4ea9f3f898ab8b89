import { runInNewContext } from 'node:vm'
import { AdminError } from './error.ts'

/**
 * Milliseconds that a check's deadline exceeds its adapter's time-out, so that the adapter's more telling error comes
 * first.
 */
export const deadlineSlackMs = 1000

/** Waits for `work`. If the signal aborts, rejects with the error that `stopped` makes; `work` runs on unheard. */
export async function unlessAborted<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  stopped: () => Error,
): Promise<T> {
  if (!signal) return work
  let abort: () => void = () => undefined
  const end = new Promise<never>((_, reject) => {
    abort = () => reject(stopped())
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
  try {
    return await Promise.race([work, end])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/**
 * Returns the result of `work` if it ends within `ms` milliseconds, else `late`. Throws what `work` throws in time.
 * Leaves no timer behind, and keeps the process alive until it returns.
 */
export async function atMost<T, L>(ms: number, work: Promise<T>, late: L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<L>((resolve) => (timer = setTimeout(resolve, ms, late)))
  // a failure after that time is ignored
  work.catch(() => undefined)
  try {
    return await Promise.race([work, over])
  } finally {
    clearTimeout(timer)
  }
}

/** Maximum number of concurrent requests of one kind */
const atOnce = 4

/**
 * Runs `work` for all, a few at a time, and returns the results in the order of the input. Throws the first error in
 * that order, once no work is under way any more.
 */
export async function inTurns<T, R>(all: readonly T[], work: (it: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (let from = 0; from < all.length; from += atOnce) {
    const settled = await Promise.allSettled(all.slice(from, from + atOnce).map(work))
    for (const it of settled) {
      if (it.status === 'rejected') throw it.reason
      results.push(it.value)
    }
  }
  return results
}

/** Returns a function that runs what it is given, at most so many at once; the others wait their turn. */
export function sideBySide(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0
  const waiting: (() => void)[] = []
  return async (work) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve))
    else running += 1
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }
}

/**
 * Returns what `work` returns; throws what `late` makes if it takes longer than `timeoutMs`. The last resort for text
 * or patterns from outside: V8 ends the work from another thread. So no regular expression or loop can hold this
 * thread, and the caller can still journal, close and answer. `work` must wait for nothing, and change nothing but its
 * own data, since it may end anywhere.
 */
export function watched<T>(work: () => T, { timeoutMs, late }: { timeoutMs: number; late: () => Error }): T {
  try {
    return runInNewContext('work()', { work }, { timeout: Math.max(1, Math.ceil(timeoutMs)), breakOnSigint: true }) as T
  } catch (error) {
    const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null
    if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw late()
    if (code !== 'ERR_SCRIPT_EXECUTION_INTERRUPTED') throw error
    // the signal was for the program, which receives it as soon as it listens again
    process.kill(process.pid, 'SIGINT')
    throw late()
  }
}

/** Runs work of one deployment in its turn. Throws what `late` makes if that does not come, and as the work. */
export type Turn = <T>(work: () => Promise<T>, late: () => Error) => Promise<T>

interface Line {
  waiting: { begin: () => void; giveUp: () => void }[]
  running: number
  atOnce: number
  waitMs: number
  timer: NodeJS.Timeout | undefined
}

/**
 * Places for processes, which the deployments of a run share. A free place goes to the deployment that has the fewest,
 * so that one whose checks hang keeps no other waiting for long.
 */
export class Places {
  #free: number
  /** The one that got a place last is the last */
  readonly #lines = new Set<Line>()

  constructor(most: number) {
    this.#free = most
  }

  /**
   * Returns what gives turns to the work of one deployment: at most `atOnce`, in the order in which they come. Those
   * that wait give up once none of this deployment has ended in its own time for `waitMs`: checks that hang make
   * others late, but many that are merely slow do not.
   */
  line({ atOnce, waitMs }: Pick<Line, 'atOnce' | 'waitMs'>): Turn {
    const line: Line = { waiting: [], running: 0, atOnce, waitMs, timer: undefined }
    this.#lines.add(line)
    return async (work, late) => {
      await new Promise<void>((resolve, reject) => {
        line.waiting.push({ begin: resolve, giveUp: () => reject(late()) })
        this.#fill()
        watch(line)
      })
      let isHanging = false
      try {
        return await work()
      } catch (error) {
        isHanging = error instanceof AdminError && error.code === 'TIMED_OUT'
        throw error
      } finally {
        line.running -= 1
        this.#free += 1
        if (!isHanging) stopWatch(line)
        this.#fill()
        watch(line)
      }
    }
  }

  #fill(): void {
    while (this.#free > 0) {
      const able = [...this.#lines].filter(({ waiting, running, atOnce }) => waiting.length > 0 && running < atOnce)
      const fewest = Math.min(...able.map(({ running }) => running))
      const line = able.find(({ running }) => running === fewest)
      if (!line) return
      this.#lines.delete(line)
      this.#lines.add(line)
      this.#free -= 1
      line.running += 1
      line.waiting.shift()!.begin()
      watch(line)
    }
  }
}

/** Counts the time only while something waits. */
function watch(line: Line): void {
  if (line.waiting.length === 0) return stopWatch(line)
  line.timer ??= setTimeout(() => {
    stopWatch(line)
    for (const { giveUp } of line.waiting.splice(0)) giveUp()
  }, line.waitMs)
}

function stopWatch(line: Line): void {
  clearTimeout(line.timer)
  line.timer = undefined
}
