import { AdminError } from '../../core/error.ts'
import { harmless } from '../../core/harmless.ts'

/** Who is asked for what cannot be found. Both throw INTERRUPTED where the question is not answered. */
export interface Asker {
  /** '' where it is left open; `problem` says what is wrong with an answer */
  text(message: string, options?: { usual?: string; problem?: (answer: string) => string | null }): Promise<string>
  choice<T>(message: string, choices: readonly { value: T; name: string }[]): Promise<T>
}

interface Asking {
  input: NodeJS.ReadableStream
  output: NodeJS.WritableStream
  signal: AbortSignal
}

/** Asks a person on a terminal. */
export function personAt(context: Asking): Asker {
  return {
    async text(message, { usual, problem } = {}) {
      const { default: input } = await import('@inquirer/input')
      return (await answered(input({ message: harmless(message), ...(isShowable(usual) && { default: usual }), validate: (answer) => shownProblem(problem?.(answer.trim()) ?? null) }, context))).trim()
    },
    async choice(message, choices) {
      const { default: select } = await import('@inquirer/select')
      return answered(select({ message: harmless(message), choices: choices.map(({ value, name }) => ({ value, name: harmless(name) })) }, context))
    },
  }
}

async function answered<T>(asking: Promise<T>): Promise<T> {
  try {
    return await asking
  } catch (error) {
    // Ctrl-C, Ctrl-D, or the signal: the library tells each by an error of its own
    throw new AdminError('INTERRUPTED', 'interrupted: nothing was written', [], { cause: error })
  }
}

/** What is offered as an answer is taken as it was shown, or not offered. */
function isShowable(usual: string | undefined): usual is string {
  return usual !== undefined && usual === harmless(usual)
}

function shownProblem(problem: string | null): string | true {
  return problem === null ? true : harmless(problem)
}
