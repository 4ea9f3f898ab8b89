import { AdminError } from './error.ts'

/** Returns what was opened, as a list of one; empty if it cannot be reached. Throws INTERRUPTED. */
export async function ifReached<T>(opening: Promise<T>): Promise<T[]> {
  try {
    return [await opening]
  } catch (error) {
    if (error instanceof AdminError && error.code !== 'INTERRUPTED') return []
    throw error
  }
}
