/** Waits for `work` for so many milliseconds at most: then rejects with what `late` makes, and `work` goes on unheard. */
export async function withDeadline<T>(work: Promise<T>, milliseconds: number, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const end = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), milliseconds)
  })
  try {
    return await Promise.race([work, end])
  } finally {
    clearTimeout(timer)
  }
}

/** Waits for `work` until the signal says stop: then rejects with what `stopped` makes, and `work` goes on unheard. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined, stopped: () => Error): Promise<T> {
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
