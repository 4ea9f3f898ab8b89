/** how many requests of one kind are under way at a time */
const atOnce = 4

/**
 * Does the same for all, a few at a time; the results are in the order of what was given. Throws what the first in that
 * order threw, once nothing of it is under way any more.
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
