import type { Deployment, SecretName } from '../core/deployment.ts'
import { command, editing } from '../core/shell-command.ts'
import type { ShellCommand, Suggestion } from '../core/shell-command.ts'

/** Returns the command that explains the steps of a repair, for operators who take them one by one. */
export function byHand(id: string): ShellCommand {
  return command`testops-admin explain ${id}   # shows the steps to take by hand`
}

/** Returns what to type on this machine to correct the configuration, or to write one if there is none. */
export function editConfiguration({ editable }: Pick<Deployment, 'editable'>): Suggestion {
  return editable === undefined ? 'testops-admin init' : editing(editable.configuration)
}

/**
 * Returns what to type on this machine to enter a login's secret again. If only the service's settings hold the secret,
 * edits the configuration, which can hold it.
 */
export function enterSecret(name: SecretName, { editable }: Pick<Deployment, 'editable'>): Suggestion {
  return editable?.secrets[name] ?? editConfiguration({ ...(editable && { editable }) })
}
