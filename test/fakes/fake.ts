import { AdminError } from '../../src/core/error.ts'

/**
 * What a fake answers: for each method a value, an `AdminError` that it throws, or a function of the method's
 * arguments that gives either; for each property its value.
 */
export type Answers<S> = {
  [K in keyof S]?: NonNullable<S[K]> extends (...input: infer Input) => Promise<infer Value>
    ? Value | AdminError | ((...input: Input) => Value | AdminError | Promise<Value | AdminError>)
    : S[K]
}

/** A source made of data: `methods` say which answers are methods, the rest are properties. */
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

/** A clock that is ahead of this machine's by so much (negative: behind). */
export function clockAhead(offsetMs: number, uncertaintyMs = 1): { offsetMs: number; uncertaintyMs: number } {
  return { offsetMs, uncertaintyMs }
}

export function ago(milliseconds: number): Date {
  return new Date(Date.now() - milliseconds)
}
