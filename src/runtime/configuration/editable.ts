import type { Editable, SecretName } from '../../core/deployment.ts'
import { command, editing, typed } from '../../core/shell-command.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import type { SecretReference } from './nodes.ts'
import type { SelectedDeployment } from './select.ts'

/**
 * Returns the parts of a configuration that an operator can correct by hand, and what to type for it; undefined if
 * there is no configuration.
 */
export function editableOf({ settings, file, found }: SelectedDeployment): Editable | undefined {
  if (found !== undefined) return undefined
  const { apiToken, database = [], broker, sessions, kubernetes, compose } = settings
  const references: Readonly<Record<SecretName, SecretReference | undefined>> = {
    apiToken,
    database: database[0]?.password,
    broker: broker?.password,
    sessions: sessions?.password,
  }
  const secrets: Partial<Record<SecretName, Suggestion>> = {}
  for (const name of Object.keys(references) as SecretName[]) {
    const reference = references[name]
    if (reference !== undefined) secrets[name] = entered(reference, file, kubernetes?.context)
  }
  return {
    configuration: file,
    secrets,
    ...((kubernetes?.values ?? compose?.file) !== undefined && { namesValues: true as const }),
  }
}

/** Returns a command to enter a secret, without showing it or leaving it in the shell's history. */
function entered(reference: SecretReference, configuration: string, context: string | undefined): Suggestion {
  switch (reference.form) {
    case 'env':
      return command`read -rs ${reference.variable} && export ${reference.variable}`
    case 'file':
      return editing(reference.path)
    // where that command gets the secret is unknown
    case 'command':
      return editing(configuration)
    case 'kubernetesSecret': {
      const [name = '', namespace] = reference.name.split('/').slice(0, -1).toReversed()
      return typed([
        'kubectl',
        ...(context === undefined ? [] : ['--context', context]),
        ...(namespace === undefined ? [] : ['-n', namespace]),
        'edit',
        'secret',
        name,
      ])
    }
  }
}
