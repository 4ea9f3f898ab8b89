/**
 * What the work gives within so many milliseconds, else `late`. Throws what the work throws in time; nothing of it is
 * left waiting, and it keeps the process until then.
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
