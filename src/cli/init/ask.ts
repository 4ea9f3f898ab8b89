import { cancelled } from '../../core/error.ts'
import { harmless } from '../../core/harmless.ts'
import { wrap } from '../../output/text.ts'
import type { KeptAnswers } from '../../runtime/index.ts'
import { ask } from '../repair/confirm.ts'
import type { Asking } from '../repair/confirm.ts'
import { screenOf } from '../screen.ts'
import { print } from '../write.ts'

export interface TextOptions {
  /** Answer that is already typed in: Enter accepts it, Ctrl-U clears it */
  usual?: string | undefined
  /** Returns what is wrong with an answer; null if nothing is */
  problem?: (answer: string) => Promise<string | null> | string | null
}

/** Asks for what cannot be found. Both methods throw REFUSED if the question is not answered. */
export interface Asker {
  /** Returns '' if the answer is left empty. Keeps the answer under `question`, and offers it again next time */
  text(question: string, message: string, options?: TextOptions): Promise<string>
  /** Like `text`, for one of `choices`. A null `question` keeps no answer */
  choice<T>(question: string | null, message: string, choices: readonly { value: T; name: string }[]): Promise<T>
}

/** Returns an asker for a person on a terminal. It keeps each answer as soon as it is given. */
export function personAt(
  { signal, ...asking }: Asking & { signal: AbortSignal },
  kept: Pick<KeptAnswers, 'of' | 'keep'>,
): Asker {
  const { output } = asking
  const lines = (text: string): string[] => wrap(harmless(text), screenOf(output).columns)
  const show = (all: readonly string[]): void => print(output, all.map((line) => `${line}\n`).join(''))
  const answerTo = async (message: string, { usual = '', problem }: TextOptions): Promise<string> => {
    const question = lines(message)
    let offered = isShowable(usual) ? usual : ''
    for (;;) {
      show(question.slice(0, -1))
      const answer = (await ask(`${question.at(-1)!} `, asking, signal, offered))?.trim()
      if (answer === undefined) {
        // Ctrl-D leaves the cursor behind the question
        print(output, '\n')
        throw cancelled()
      }
      const wrong = (await problem?.(answer)) ?? null
      if (wrong === null) return answer
      show(lines(wrong))
      offered = ''
    }
  }
  return {
    async text(question, message, options = {}) {
      const answer = await answerTo(message, { ...options, usual: kept.of(question) ?? options.usual })
      await kept.keep(question, answer)
      return answer
    },
    async choice(question, message, choices) {
      show([...lines(message), ...choices.map(({ name }, at) => harmless(`  ${at + 1}  ${name}`))])
      const before = question === null ? -1 : choices.findIndex(({ name }) => name === kept.of(question))
      const chosen = (answer: string): (typeof choices)[number] | undefined =>
        /^\d{1,4}$/.test(answer) ? choices[Number(answer) - 1] : undefined
      const problem = (answer: string): string | null =>
        chosen(answer) ? null : `Type a number from 1 to ${choices.length}.`
      const { name, value } = chosen(
        await answerTo(`Which one (1 to ${choices.length})?`, { usual: String(Math.max(0, before) + 1), problem }),
      )!
      if (question !== null) await kept.keep(question, name)
      return value
    },
  }
}

/** True if the text is printed unchanged. Only such a text is offered as an answer. */
function isShowable(usual: string): boolean {
  return usual === harmless(usual)
}
