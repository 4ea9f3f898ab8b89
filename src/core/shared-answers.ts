/** Questions whose answers are under way. */
export interface SharedAnswers {
  /** Returns the answer under way to the same question, else that of `ask` */
  to<T>(question: string, ask: () => Promise<T>): Promise<T>
  /** Makes later questions ask again, since something has changed */
  forget(): void
}

/**
 * Shares one answer among those who ask the same at the same time, and keeps nothing once it has come. After `forMs`
 * milliseconds an answer is no longer shared, so that nobody else waits for a dead connection.
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
