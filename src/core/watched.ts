import { runInNewContext } from 'node:vm'

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
