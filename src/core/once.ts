/** Calls `ask` once and shares the answer; forgets a failure, so that a later call asks again. */
export function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | null = null
  return () =>
    (answer ??= ask().catch((error: unknown) => {
      answer = null
      throw error
    }))
}
