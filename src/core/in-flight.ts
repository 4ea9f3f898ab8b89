/** Whoever asks while an answer is under way gets that one; who asks afterwards asks anew. */
export function inFlight<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | null = null
  return () =>
    (answer ??= ask().finally(() => {
      answer = null
    }))
}
