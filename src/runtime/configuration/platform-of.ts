import { dirname } from 'node:path'
import type { PlatformName } from '../../core/deployment.ts'
import { AdminError } from '../../core/error.ts'
import type { ComposeSettings, HostSettings, KubernetesSettings, PlatformSettings } from '../../platforms/index.ts'
import { commandOf } from './command.ts'
import { possiblePlatforms } from './platform-keys.ts'
import type { SelectedDeployment } from './select.ts'
import { sentence } from '../../core/shell-command.ts'

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
