/** Maximum number of concurrent requests of one kind */
const atOnce = 4

/**
 * Runs `work` for all, a few at a time, and returns the results in the order of the input. Throws the first error in
 * that order, once no work is under way any more.
 */
export async function inTurns<T, R>(all: readonly T[], work: (it: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (let from = 0; from < all.length; from += atOnce) {
    const settled = await Promise.allSettled(all.slice(from, from + atOnce).map(work))
    for (const it of settled) {
      if (it.status === 'rejected') throw it.reason
      results.push(it.value)
    }
  }
  return results
}
