/** Shares one call of `ask` among all who ask while it is under way; a later caller asks again. */
export function inFlight<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | null = null
  return () =>
    (answer ??= ask().finally(() => {
      answer = null
    }))
}
