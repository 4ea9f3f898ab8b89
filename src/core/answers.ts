/** Answers that are shared among all who ask the same question. */
interface Answers {
  /** Returns the answer to that question, else that of `ask`, which may be a promise */
  to<T>(question: string, ask: () => T): T
  /** Makes later questions ask again, since something has changed */
  forget(): void
}

interface AnswerOptions {
  /** What is kept once it has come; what is under way is always shared */
  keep: 'nothing' | 'successes' | 'everything'
  /** For how many milliseconds it is kept; for ever if omitted */
  keptMs?: number
  /**
   * After how many milliseconds what is under way is no longer shared, so that nobody else waits for a dead connection;
   * never if omitted
   */
  forMs?: number
}

interface Shared {
  readonly answer: unknown
  /** Of `performance.now()`, when it was asked and when it came */
  readonly askedAt: number
  cameAt: number | null
}

/** Shares answers among all callers that ask the same question, and keeps as many of them as `keep` says. */
export function sharedAnswers({
  keep,
  keptMs = Number.POSITIVE_INFINITY,
  forMs = Number.POSITIVE_INFINITY,
}: AnswerOptions): Answers {
  const all = new Map<string, Shared>()
  const isGood = ({ askedAt, cameAt }: Shared): boolean =>
    cameAt === null ? performance.now() - askedAt <= forMs : performance.now() - cameAt <= keptMs
  return {
    to<T>(question: string, ask: () => T): T {
      const known = all.get(question)
      if (known && isGood(known)) return known.answer as T
      const answer = ask()
      const shared: Shared = { answer, askedAt: performance.now(), cameAt: null }
      const came = (isKept: boolean): void => {
        shared.cameAt = performance.now()
        if (!isKept && all.get(question) === shared) all.delete(question)
      }
      all.set(question, shared)
      if (answer instanceof Promise)
        answer.then(
          () => came(keep !== 'nothing'),
          () => came(keep === 'everything'),
        )
      else came(keep !== 'nothing')
      return answer
    },
    forget: () => all.clear(),
  }
}

/** Calls `ask` once and shares the answer; forgets a failure, so that a later call asks again. */
export function once<T>(ask: () => Promise<T>): () => Promise<T> {
  const answers = sharedAnswers({ keep: 'successes' })
  return async () => answers.to('', ask)
}

/** Shares one call of `ask` among all who ask while it is under way; a later caller asks again. */
export function inFlight<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | null = null
  return () =>
    (answer ??= ask().finally(() => {
      answer = null
    }))
}
