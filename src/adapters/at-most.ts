/**
 * The result of the work if it ends within that many milliseconds, else `late`. Throws what the work throws in time.
 * Leaves no timer behind, and keeps the process alive until then.
 */
export async function atMost<T, L>(ms: number, work: Promise<T>, late: L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<L>((resolve) => (timer = setTimeout(resolve, ms, late)))
  // a failure after that time is nobody's
  work.catch(() => undefined)
  try {
    return await Promise.race([work, over])
  } finally {
    clearTimeout(timer)
  }
}
