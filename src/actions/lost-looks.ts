import { AdminError } from '../core/error.ts'
import type { ErrorCode } from '../core/error.ts'

/** how long a wait tolerates failing looks */
const againForMs = 5000
const passing: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['UNREACHABLE', 'TIMED_OUT'])

/**
 * Wraps a look that a wait repeats, so that a cut connection does not end the wait, as when an API server or a proxy is
 * renewed. Throws the failure once every look has failed for 5 s, and at once if it is not about the connection.
 */
export function lostLooks<T>(look: () => Promise<T>): () => Promise<T | { lost: AdminError }> {
  let since: number | null = null
  return async () => {
    try {
      const seen = await look()
      since = null
      return seen
    } catch (error) {
      if (!(error instanceof AdminError && passing.has(error.code))) throw error
      since ??= performance.now()
      if (performance.now() - since > againForMs) throw error
      return { lost: error }
    }
  }
}
