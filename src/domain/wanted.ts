import type { Wanted } from '../core/check.ts'
import { AdminError } from '../core/error.ts'

/** The source, or null where it could not be had. */
export function had<T>(wanted: Wanted<T>): T | null {
  return wanted instanceof AdminError ? null : wanted
}

/** Whether the deployment has no such part at all, so that nothing follows from its absence. */
export function notConfigured(wanted: unknown): boolean {
  return wanted instanceof AdminError && wanted.code === 'NOT_CONFIGURED'
}

/** What was asked, or null where the other side cannot or may not answer. Bugs go on. */
export async function tolerant<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof AdminError) return null
    throw error
  }
}

/** The source, or the reason why it cannot be opened. Bugs go on. */
export async function wanted<T>(open: () => Promise<T>): Promise<Wanted<T>> {
  try {
    return await open()
  } catch (error) {
    if (error instanceof AdminError) return error
    throw error
  }
}
