import { AdminError } from '../../src/core/error.ts'

/** The code and the message of what a promise fails with. */
export async function errorOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => 'no error',
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof AdminError)) throw error
  return `${error.code}: ${error.message}`
}
