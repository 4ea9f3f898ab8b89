/**
 * Values from several hands into one: each waits until its value is taken, so that no more are held than there are
 * hands.
 */
export interface Handover<T> {
  /** resolves once it is taken; with false: nobody takes any more */
  put: (value: T) => Promise<boolean>
  /** ends it with an error, once what was put before is taken */
  fail: (error: unknown) => void
  /** until the signal ends it */
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
