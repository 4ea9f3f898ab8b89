/**
 * Returns the result of `work` if it ends within `ms` milliseconds, else `late`. Throws what `work` throws in time.
 * Leaves no timer behind, and keeps the process alive until it returns.
 */
export async function atMost<T, L>(ms: number, work: Promise<T>, late: L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<L>((resolve) => (timer = setTimeout(resolve, ms, late)))
  // a failure after that time is ignored
  work.catch(() => undefined)
  try {
    return await Promise.race([work, over])
  } finally {
    clearTimeout(timer)
  }
}
