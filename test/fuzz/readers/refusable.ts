import { AdminError } from '../../../src/core/error.ts'

/** One of several things that are done with an input: where it is refused, the others are done all the same. */
export async function refusable(work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof AdminError)) throw error
  }
}
