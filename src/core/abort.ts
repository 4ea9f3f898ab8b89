/** Waits for `work`. If the signal aborts, rejects with the error that `stopped` makes; `work` runs on unheard. */
export async function unlessAborted<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  stopped: () => Error,
): Promise<T> {
  if (!signal) return work
  let abort: () => void = () => undefined
  const end = new Promise<never>((_, reject) => {
    abort = () => reject(stopped())
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
  try {
    return await Promise.race([work, end])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
