import { createInterface } from 'node:readline/promises'
import type { Deployment } from '../../core/deployment.ts'
import { AdminError } from '../../core/error.ts'
import { typed } from '../../core/typed.ts'

export interface Asked {
  deployment: Deployment
  /** of --confirm */
  confirm: string | undefined
  /** the words after the program's name, as they were typed */
  words: readonly string[]
  signal: AbortSignal
}

/**
 * Returns once the operator has given the deployment's name: by --confirm, or by typing it on a terminal. Throws REFUSED
 * otherwise; without a terminal it says what to type.
 */
export async function confirmed({ deployment: { name }, confirm, words, signal }: Asked, show: () => void): Promise<void> {
  if (confirm !== undefined) {
    if (confirm === name) return
    throw new AdminError('REFUSED', `--confirm names \`${confirm}\`, and this is deployment \`${name}\`: nothing was changed`, [
      commandWith(words, name),
    ])
  }
  show()
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new AdminError('REFUSED', 'this has to be confirmed, and there is no terminal to ask on: nothing was changed', [commandWith(words, name)])
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = await terminal.question(`Type the deployment's name, ${name}, to go on: `, { signal })
    if (answer.trim() === name) return
  } catch (error) {
    throw signal.aborted ? (signal.reason as Error) : error
  } finally {
    terminal.close()
  }
  throw new AdminError('REFUSED', `that is not \`${name}\`: nothing was changed`, [commandWith(words, name)])
}

/** The same command, confirmed. */
function commandWith(words: readonly string[], name: string): string {
  const kept = words.filter((word, index) => word !== '--confirm' && words[index - 1] !== '--confirm' && !word.startsWith('--confirm='))
  return typed(['testops-admin', ...kept, '--confirm', name])
}
