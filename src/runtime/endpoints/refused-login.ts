import { AdminError } from '../../core/error.ts'
import type { Login } from './context.ts'

/**
 * Opens a part. If it refuses a login that may not be the service's, the error says so (obstacle `login`), because the
 * service is not affected then; if no password is known, the error says why.
 */
export async function toldByLogin<T>({ isService, unread }: Login, opening: Promise<T>): Promise<T> {
  try {
    return await opening
  } catch (error) {
    const isRefusal = error instanceof AdminError && (error.code === 'UNAUTHENTICATED' || error.code === 'FORBIDDEN')
    if (!isRefusal || isService || error.obstacle) throw error
    const suggestions =
      unread === null ? error.suggestions : [...error.suggestions, `no password is configured, and ${unread}`]
    throw new AdminError(error.code, error.message, suggestions, { cause: error.cause, obstacle: { kind: 'login' } })
  }
}
