import { createInterface } from 'node:readline/promises'
import type { Deployment } from '../../core/deployment.ts'
import { AdminError, cancelled } from '../../core/error.ts'
import { harmless } from '../../core/harmless.ts'
import type { ShellCommand } from '../../core/shell-command.ts'
import { typed } from '../../core/typed.ts'
import { print, releaseHeld } from '../write.ts'

interface Asked {
  deployment: Pick<Deployment, 'name' | 'file'>
  /** Value of --confirm */
  confirm: string | undefined
  /** Words after the program's name, as typed */
  words: readonly string[]
  signal: AbortSignal
}

/** The streams that a question is asked on. */
export interface Asking {
  /** `readableEnded` is true if it was read to its end already, as a file */
  input: NodeJS.ReadableStream & { isTTY?: boolean; readableEnded?: boolean }
  output: NodeJS.WritableStream & { isTTY?: boolean }
}

/**
 * Returns once the operator has given the deployment's name: by --confirm, or by typing it on a terminal. Otherwise,
 * and on Ctrl-C, throws REFUSED: nothing was changed. Without a terminal, the error says what to type.
 */
export async function confirmed(
  asked: Asked,
  show: () => void,
  { input, output }: Asking = { input: process.stdin, output: process.stderr },
): Promise<void> {
  const { deployment, confirm, words, signal } = asked
  const { name, file } = deployment
  refuseOtherName(asked)
  if (confirm !== undefined) return
  show()
  if (!input.isTTY || !output.isTTY || input.readableEnded === true)
    throw new AdminError(
      'REFUSED',
      'Nothing changed: this command needs a confirmation, but there is no terminal to ask on',
      [commandWith(words, name)],
    )
  const answer = await ask(
    `Type the ${file ? 'file' : 'deployment'}'s name, ${name}, to confirm: `,
    { input, output },
    signal,
  )
  if (answer?.trim() === name) return
  const what = answer === null ? 'there was no answer' : `the answer is not \`${name}\``
  throw new AdminError('REFUSED', `Nothing changed: ${what}`, [commandWith(words, name)])
}

/** Throws REFUSED if --confirm names another deployment. */
export function refuseOtherName({ deployment: { name, file }, confirm, words }: Omit<Asked, 'signal'>): void {
  if (confirm === undefined || confirm === name) return
  throw new AdminError(
    'REFUSED',
    `Nothing changed: --confirm names \`${confirm}\`, but this is ${file ? 'file' : 'deployment'} \`${name}\``,
    [commandWith(words, name)],
  )
}

/** Maximum characters kept of a pasted answer, because each key measures the whole line */
const mostTyped = 2000

/**
 * Asks a question; returns null if the input ends without an answer (Ctrl-D). Throws REFUSED on Ctrl-C, which the
 * terminal reports here and not as a signal: no line of the question is shown before it does. `offered` stands in the
 * line as if typed.
 */
export async function ask(
  question: string,
  { input, output }: Asking,
  signal: AbortSignal,
  offered = '',
): Promise<string | null> {
  // a question is understood only by what was printed before it
  releaseHeld()
  const terminal = createInterface({ input, output })
  const bound = (): void => {
    if (terminal.line.length > mostTyped)
      Object.assign(terminal, { line: terminal.line.slice(0, mostTyped), cursor: mostTyped })
  }
  const lastLine = question.lastIndexOf('\n') + 1
  let stop: () => void = () => undefined
  try {
    return await new Promise<string | null>((resolve, reject) => {
      // what is printed next starts a line of its own, not at the end of the question
      stop = () => {
        print(output, '\n')
        reject(cancelled(signal.reason))
      }
      if (signal.aborted) return reject(cancelled(signal.reason))
      signal.addEventListener('abort', stop, { once: true })
      terminal.once('SIGINT', stop)
      // readline leaves its input paused after Ctrl-Z: nothing more would be read, and the process would end
      terminal.on('SIGCONT', () => terminal.resume())
      terminal.once('close', () => resolve(null))
      // readline edits one line
      print(output, question.slice(0, lastLine))
      terminal.question(harmless(question.slice(lastLine))).then(resolve, reject)
      // as if it had been typed: it is read back, and shown by readline
      // eslint-disable-next-line no-restricted-syntax
      if (offered === harmless(offered)) terminal.write(offered)
      input.on('keypress', bound)
    })
  } finally {
    signal.removeEventListener('abort', stop)
    input.removeListener('keypress', bound)
    terminal.close()
  }
}

/** Returns the same command with --confirm. */
function commandWith(words: readonly string[], name: string): ShellCommand {
  const kept = words.filter(
    (word, index) => word !== '--confirm' && words[index - 1] !== '--confirm' && !word.startsWith('--confirm='),
  )
  return typed(['testops-admin', ...kept, '--confirm', name])
}
