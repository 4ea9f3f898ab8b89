import { createInterface } from 'node:readline/promises'
import type { Deployment } from '../../core/deployment.ts'
import { AdminError, cancelled } from '../../core/error.ts'
import { typed } from '../../core/typed.ts'
import { print } from '../write.ts'
import { harmless } from '../../core/harmless.ts'
import type { ShellCommand } from '../../core/shell-command.ts'

export interface Asked {
  deployment: Pick<Deployment, 'name' | 'file'>
  /** of --confirm */
  confirm: string | undefined
  /** the words after the program's name, as they were typed */
  words: readonly string[]
  signal: AbortSignal
}

/** Where a question is asked. */
export interface Asking {
  /** `readableEnded`: it was read to its end already, as a file */
  input: NodeJS.ReadableStream & { isTTY?: boolean; readableEnded?: boolean }
  output: NodeJS.WritableStream & { isTTY?: boolean }
}

/**
 * Returns once the operator has given the deployment's name: by --confirm, or by typing it on a terminal. Throws
 * REFUSED otherwise, and without a terminal says what to type; also on Ctrl-C: nothing was changed.
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
    throw new AdminError('REFUSED', 'Nothing changed: this needs a confirmation, and there is no terminal to ask on', [
      commandWith(words, name),
    ])
  const answer = await ask(
    `Type the ${file ? 'file' : 'deployment'}'s name, ${name}, to confirm: `,
    { input, output },
    signal,
  )
  if (answer?.trim() === name) return
  const what = answer === null ? 'no answer was given' : `that is not \`${name}\``
  throw new AdminError('REFUSED', `Nothing changed: ${what}`, [commandWith(words, name)])
}

/** Throws REFUSED where --confirm names another deployment. */
export function refuseOtherName({ deployment: { name, file }, confirm, words }: Omit<Asked, 'signal'>): void {
  if (confirm === undefined || confirm === name) return
  throw new AdminError(
    'REFUSED',
    `Nothing changed: --confirm names \`${confirm}\`, but this is ${file ? 'file' : 'deployment'} \`${name}\``,
    [commandWith(words, name)],
  )
}

/** what is pasted beyond is dropped: for each key the whole line is measured */
const mostTyped = 2000

/**
 * Null where the input ends without an answer (Ctrl-D). A terminal that is asked on tells Ctrl-C here, and not as a
 * signal. Throws REFUSED then. `offered` stands in the line as if it had been typed.
 */
export async function ask(
  question: string,
  { input, output }: Asking,
  signal: AbortSignal,
  offered = '',
): Promise<string | null> {
  const terminal = createInterface({ input, output })
  const bound = (): void => {
    if (terminal.line.length > mostTyped)
      Object.assign(terminal, { line: terminal.line.slice(0, mostTyped), cursor: mostTyped })
  }
  let stop: () => void = () => undefined
  try {
    return await new Promise<string | null>((resolve, reject) => {
      // what is said next begins a line of its own, not at the end of the question
      stop = () => {
        print(output, '\n')
        reject(cancelled(signal.reason))
      }
      if (signal.aborted) return reject(cancelled(signal.reason))
      signal.addEventListener('abort', stop, { once: true })
      terminal.once('SIGINT', stop)
      // readline leaves its input paused when the process comes back from Ctrl-Z: nothing would be read any more, and
      // the process end
      terminal.on('SIGCONT', () => terminal.resume())
      terminal.once('close', () => resolve(null))
      terminal.question(harmless(question)).then(resolve, reject)
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

/** The same command, confirmed. */
function commandWith(words: readonly string[], name: string): ShellCommand {
  const kept = words.filter(
    (word, index) => word !== '--confirm' && words[index - 1] !== '--confirm' && !word.startsWith('--confirm='),
  )
  return typed(['testops-admin', ...kept, '--confirm', name])
}
