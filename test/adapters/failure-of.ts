import { AdminError } from '../../src/core/error.ts'

/** How something failed, as 'CODE message'; null where it did not. Anything but an `AdminError` is thrown on. */
export async function failureOf(work: Promise<unknown>): Promise<string | null> {
  const error = await errorOf(work)
  return error === null ? null : `${error.code} ${error.message}`
}

/** The `AdminError` that something failed with; null where it did not fail. */
export async function errorOf(work: Promise<unknown>): Promise<AdminError | null> {
  try {
    await work
    return null
  } catch (error) {
    if (error instanceof AdminError) return error
    throw error
  }
}
