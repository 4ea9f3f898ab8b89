/** Questions whose answers are on their way. */
export interface SharedAnswers {
  /** the answer that is on its way to the same question, else that of `ask` */
  to<T>(question: string, ask: () => Promise<T>): Promise<T>
  /** what is asked from now on is asked again: something has changed */
  forget(): void
}

/**
 * Several who ask the same at the same time share one answer. Nothing is kept once it has come. One that is longer on
 * its way than `forMs` is shared no more: whoever asks then is not to wait for a connection that is dead.
 */
export function sharedAnswers({ forMs = Number.POSITIVE_INFINITY }: { forMs?: number } = {}): SharedAnswers {
  const underWay = new Map<string, { answer: Promise<unknown>; since: number }>()
  return {
    async to<T>(question: string, ask: () => Promise<T>) {
      const same = underWay.get(question)
      if (same && performance.now() - same.since <= forMs) return same.answer as Promise<T>
      const asked = ask().finally(() => {
        if (underWay.get(question)?.answer === asked) underWay.delete(question)
      })
      underWay.set(question, { answer: asked, since: performance.now() })
      return asked
    },
    forget: () => underWay.clear(),
  }
}
