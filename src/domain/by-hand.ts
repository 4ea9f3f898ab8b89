import type { Deployment, SecretName } from '../core/deployment.ts'
import { command, editing } from '../core/shell-command.ts'
import type { ShellCommand, Suggestion } from '../core/shell-command.ts'

/** Where the steps of a repair stand, for whoever makes them one by one. */
export function byHand(id: string): ShellCommand {
  return command`testops-admin explain ${id}   # the same by hand`
}

/** What is typed on this machine to correct the configuration; where there is none, to write one. */
export function editConfiguration({ editable }: Pick<Deployment, 'editable'>): Suggestion {
  return editable === undefined ? 'testops-admin init' : editing(editable.configuration)
}

/**
 * What is typed on this machine to enter a login's secret anew; one that is only in the service's settings is written
 * down in the configuration.
 */
export function enterSecret(name: SecretName, { editable }: Pick<Deployment, 'editable'>): Suggestion {
  return editable?.secrets[name] ?? editConfiguration({ ...(editable && { editable }) })
}
