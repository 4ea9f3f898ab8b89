import type { Wanted } from '../core/check.ts'
import { AdminError } from '../core/error.ts'

/** Returns the source; null if it is unavailable. */
export function had<T>(wanted: Wanted<T>): T | null {
  return wanted instanceof AdminError ? null : wanted
}

/** True if the deployment has no such part at all, so that nothing follows from its absence. */
export function notConfigured(wanted: unknown): boolean {
  return wanted instanceof AdminError && wanted.code === 'NOT_CONFIGURED'
}

/** Returns the answer; null if the other side cannot or may not answer. Rethrows bugs. */
export async function tolerant<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof AdminError) return null
    throw error
  }
}

/** Returns the source, or the reason why it cannot be opened. Rethrows bugs. */
export async function wanted<T>(open: () => Promise<T>): Promise<Wanted<T>> {
  try {
    return await open()
  } catch (error) {
    if (error instanceof AdminError) return error
    throw error
  }
}
