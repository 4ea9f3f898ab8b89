import { AdminError } from '../core/error.ts'
import type { ErrorCode } from '../core/error.ts'

/** for so long, at most, a wait looks again after a look that failed */
const againForMs = 5000
const passing: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['UNREACHABLE', 'TIMED_OUT'])

/**
 * A look that a wait repeats: a connection that was cut, as by an API server or a proxy that is renewed, does not end
 * the wait. The function throws the failure of the look once every look has failed for 5 s, and at once where it is not
 * one of a connection.
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
