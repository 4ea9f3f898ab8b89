/**
 * Passes values from several producers to one consumer. Each producer waits until its value is taken, so that no more
 * values are held than there are producers.
 */
export interface Handover<T> {
  /** Offers a value; resolves with true once it is taken, with false once nobody takes any more */
  put: (value: T) => Promise<boolean>
  /** Ends `values` with an error, once the values put before are taken */
  fail: (error: unknown) => void
  /** Yields the values until the signal aborts */
  values(): AsyncGenerator<T>
}

export function handover<T>(signal: AbortSignal): Handover<T> {
  let offered: { value: T; taken: (isTaken: boolean) => void }[] = []
  let failure: { error: unknown } | null = null
  let wake: () => void = () => undefined
  const end = (): void => {
    for (const { taken } of offered) taken(false)
    offered = []
    wake()
  }
  signal.addEventListener('abort', end, { once: true })
  return {
    put: async (value) =>
      new Promise((taken) => {
        if (signal.aborted) return taken(false)
        offered.push({ value, taken })
        wake()
      }),
    fail(error) {
      failure ??= { error }
      wake()
    },
    async *values() {
      while (!signal.aborted) {
        const next = offered.shift()
        if (next) {
          next.taken(true)
          yield next.value
        } else if (failure) throw failure.error
        else await new Promise<void>((resolve) => (wake = resolve))
      }
    },
  }
}
