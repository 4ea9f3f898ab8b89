/** Asks once for all; a failure is forgotten, so that a later use asks again. */
export function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | null = null
  return () =>
    (answer ??= ask().catch((error: unknown) => {
      answer = null
      throw error
    }))
}
