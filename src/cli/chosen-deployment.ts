import { AdminError } from '../core/error.ts'
import { harmless } from '../core/harmless.ts'
import type { Discovered, SelectedDeployment } from '../runtime/index.ts'
import { ask } from './repair/confirm.ts'
import type { Asking } from './repair/confirm.ts'
import { print, tellLine } from './write.ts'
import { command } from '../core/shell-command.ts'

interface Named {
  deployment?: string | undefined
  config?: string | undefined
}

/**
 * Returns the deployment that the flags or the configuration name, else one that it finds and names on standard error.
 */
export async function chosenDeployment(
  { deployment: name, config: file }: Named,
  signal: AbortSignal,
): Promise<SelectedDeployment> {
  const { findDeployment } = await import('../runtime/index.ts')
  return findDeployment({
    file,
    name,
    environment: process.env,
    workingDirectory: process.cwd(),
    signal,
    ...telling(signal),
  })
}

/**
 * Returns how to say which deployment was found and, if there is a terminal to ask on, how to ask which one is meant.
 */
export function telling(signal: AbortSignal): {
  tell: (message: string) => void
  choose?: (found: readonly Discovered[]) => Promise<Discovered>
} {
  const asking = { input: process.stdin, output: process.stderr }
  const canAsk = asking.input.isTTY && asking.output.isTTY
  return {
    tell: (message) => tellLine(process.stderr, message),
    ...(canAsk && { choose: async (found: readonly Discovered[]) => chooseOf(found, signal, asking) }),
  }
}

/** Asks for a number or a name. Throws CONFIGURATION if the answer is neither, REFUSED if it is cancelled. */
export async function chooseOf(found: readonly Discovered[], signal: AbortSignal, asking: Asking): Promise<Discovered> {
  const lines = found.map(({ name, what }, index) => `  ${index + 1}  ${harmless(`${name}: ${what}`)}\n`)
  print(asking.output, `No configuration was found. Several deployments were found:\n${lines.join('')}`)
  const answer = (await ask(`Which deployment (1 to ${found.length})? `, asking, signal))?.trim() ?? ''
  const chosen = /^\d+$/.test(answer) ? found[Number(answer) - 1] : found.find(({ name }) => name === answer)
  if (chosen) return chosen
  throw new AdminError(
    'CONFIGURATION',
    answer === '' ? 'no deployment was chosen' : `\`${answer}\` is not one of the deployments`,
    found.map(({ name }) => command`-d ${name}`),
  )
}
