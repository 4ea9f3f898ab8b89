import { AdminError } from './error.ts'

/** What could be opened, as a list; empty where it cannot be reached. Throws INTERRUPTED. */
export async function ifReached<T>(opening: Promise<T>): Promise<T[]> {
  try {
    return [await opening]
  } catch (error) {
    if (error instanceof AdminError && error.code !== 'INTERRUPTED') return []
    throw error
  }
}
