import { dirname } from 'node:path'
import type { Editable, PlatformName, SecretName } from '../../core/deployment.ts'
import { AdminError } from '../../core/error.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import { command, editing, sentence, typed } from '../../core/shell-command.ts'
import type { ComposeSettings, HostSettings, KubernetesSettings, PlatformSettings } from '../../platforms/index.ts'
import { commandOf } from './validate.ts'
import type { SecretReference } from './nodes.ts'
import { possiblePlatforms } from './schema.ts'
import type { SelectedDeployment } from './select.ts'

/**
 * Returns the named platform, otherwise the one with a section, otherwise this machine. Throws CONFIGURATION if that is
 * unclear.
 */
export function platformOf({ name, settings, file }: SelectedDeployment): PlatformName {
  const described = possiblePlatforms(settings)
  if (described.length < 2) return described[0]
  throw new AdminError(
    'CONFIGURATION',
    `deployment \`${name}\` in ${file} has the sections ${described.join(' and ')}: choose one with \`platform\``,
    [sentence`platform: ${described.join(' | ')}`],
  )
}

/** Returns what the configuration says of a deployment's platform. Throws CONFIGURATION if the platform is unclear. */
export function platformSettingsOf(selected: SelectedDeployment): PlatformSettings {
  const platform = platformOf(selected)
  switch (platform) {
    case 'host':
      return { platform, host: hostSettingsOf(selected) }
    case 'compose':
      return { platform, compose: composeSettingsOf(selected) }
    case 'kubernetes':
      return { platform, kubernetes: kubernetesSettingsOf(selected) }
  }
}

function composeSettingsOf({ settings, file }: SelectedDeployment): ComposeSettings {
  const { project, file: composeFile, service } = settings.compose ?? {}
  return {
    project: project ?? null,
    file: composeFile ?? null,
    service: service ?? null,
    build: settings.build ?? null,
    cpuinfo: settings.cpuinfo?.path ?? null,
    folder: dirname(file),
  }
}

/** Returns where the cluster is and what to look for in it, as far as the configuration says. */
export function kubernetesSettingsOf({
  settings: { kubernetes },
}: Pick<SelectedDeployment, 'settings'>): KubernetesSettings {
  const { context = null, namespace = null, release = null, workload, values, valuesPath = '' } = kubernetes ?? {}
  return {
    context,
    namespace,
    release,
    ...(workload !== undefined && { workload }),
    ...(values && { values: { file: values.path, path: valuesPath.split('.').filter(Boolean) } }),
  }
}

function hostSettingsOf({ settings, file, found }: SelectedDeployment): HostSettings {
  const { unit, commands, logs, environmentFile } = settings.host ?? {}
  const folder = dirname(file)
  return {
    unit: unit ?? null,
    commands: commands
      ? {
          start: commandOf(commands.start, folder),
          stop: commandOf(commands.stop, folder),
          status: commandOf(commands.status, folder),
        }
      : null,
    logs: logs?.file ? { file: logs.file.path } : logs?.command ? { command: commandOf(logs.command, folder) } : null,
    environmentFile: environmentFile ?? null,
    image: settings.image ?? null,
    build: settings.build ?? null,
    cpuinfo: settings.cpuinfo?.path ?? null,
    declaredIn: found ?? file,
  }
}

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
