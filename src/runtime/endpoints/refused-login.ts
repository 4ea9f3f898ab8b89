import { AdminError } from '../../core/error.ts'
import type { Login } from './context.ts'

/**
 * What opening a part gives. Where a login is refused that is not known to be the service's, the error says so
 * (obstacle `login`), for then nothing follows from it for the service; where it lacks the password, it says why that
 * is not known.
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
