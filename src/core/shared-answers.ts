/** Questions whose answers are on their way. */
export interface SharedAnswers {
  /** the answer that is on its way to the same question, else that of `ask` */
  to<T>(question: string, ask: () => Promise<T>): Promise<T>
  /** what is asked from now on is asked again: something has changed */
  forget(): void
}

/** Several who ask the same at the same time share one answer. Nothing is kept once it has come. */
export function sharedAnswers(): SharedAnswers {
  const underWay = new Map<string, Promise<unknown>>()
  return {
    async to<T>(question: string, ask: () => Promise<T>) {
      const same = underWay.get(question)
      if (same) return same as Promise<T>
      const asked = ask().finally(() => {
        if (underWay.get(question) === asked) underWay.delete(question)
      })
      underWay.set(question, asked)
      return asked
    },
    forget: () => underWay.clear(),
  }
}
