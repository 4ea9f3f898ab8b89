import { AdminError } from '../../src/core/error.ts'

/**
 * The answers of a fake: for each method a value, an `AdminError` to throw, or a function of the arguments that returns
 * either. For each property, its value.
 */
export type Answers<S> = {
  [K in keyof S]?: NonNullable<S[K]> extends (...input: infer Input) => Promise<infer Value>
    ? Value | AdminError | ((...input: Input) => Value | AdminError | Promise<Value | AdminError>)
    : S[K]
}

/** Makes a source from data: `methods` names the answers that are methods; the rest are properties. */
export function fake<S extends object>(
  healthy: Required<Answers<S>>,
  methods: readonly (keyof S)[],
  answers: Answers<S>,
): S {
  const merged: Record<string, unknown> = { ...healthy, ...answers }
  for (const method of methods as readonly string[]) {
    const answer = merged[method] as ((...input: unknown[]) => unknown) | object | null
    merged[method] = async (...input: unknown[]): Promise<unknown> => {
      const value: unknown = typeof answer === 'function' ? await answer(...input) : answer
      if (value instanceof AdminError) throw value
      return value
    }
  }
  return merged as S
}

/** A clock `offsetMs` milliseconds ahead of this machine's (negative: behind). */
export function clockAhead(offsetMs: number, uncertaintyMs = 1): { offsetMs: number; uncertaintyMs: number } {
  return { offsetMs, uncertaintyMs }
}

export function ago(milliseconds: number): Date {
  return new Date(Date.now() - milliseconds)
}
