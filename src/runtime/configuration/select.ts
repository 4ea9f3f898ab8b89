import { AdminError } from '../../core/error.ts'
import { closestNames, closestTo } from '../../core/nearest.ts'
import { labConfigurationFile } from '../paths.ts'
import type { Configuration, ConfigurationRequest } from './load.ts'
import { exists, findConfiguration, loadConfiguration, readConfiguration } from './load.ts'
import type { DeploymentSettings } from './schema.ts'

export interface SelectedDeployment {
  name: string
  settings: DeploymentSettings
  /** the configuration's file, absolute */
  file: string
}

const lab = 'lab'

/**
 * The deployment of that name; without one `current`, else the only one.
 * Throws USAGE for a name that does not exist, CONFIGURATION where there are several and none is chosen.
 */
export function selectDeployment(configuration: Configuration, name?: string): SelectedDeployment {
  const { deployments, current } = configuration.settings
  const names = [...deployments.keys()]
  const chosen = name ?? current ?? (names.length === 1 ? names[0] : undefined)
  if (chosen === undefined) {
    throw new AdminError(
      'CONFIGURATION',
      `${configuration.file} has several deployments and no \`current\``,
      names.map((known) => `-d ${known}`),
    )
  }
  const settings = deployments.get(chosen)
  if (settings) return { name: chosen, settings, file: configuration.file }
  throw unknownDeployment(chosen, names, configuration.file)
}

/**
 * Loads the configuration and selects. `lab` is the practice deployment where the operator's own configuration has none of
 * that name.
 */
export async function findDeployment(request: ConfigurationRequest & { name?: string | undefined }): Promise<SelectedDeployment> {
  if (request.name !== lab) return selectDeployment(await loadConfiguration(request), request.name)
  const own = await findConfiguration(request)
  if (own?.settings.deployments.has(lab)) return selectDeployment(own, lab)
  return selectDeployment(await labConfiguration(request), lab)
}

async function labConfiguration({ environment, workingDirectory }: ConfigurationRequest): Promise<Configuration> {
  const file = labConfigurationFile(environment)
  if (await exists(file)) return readConfiguration(file, workingDirectory)
  throw new AdminError('CONFIGURATION', `no deployment \`${lab}\`: the practice deployment is not up (no ${file})`, [
    'testops-admin lab up',
  ])
}

function unknownDeployment(name: string, names: readonly string[], file: string): AdminError {
  const known = [...new Set([...names, lab])]
  const suggestions = closestNames(name, known).map((it) => `-d ${it}`)
  return new AdminError('USAGE', `no deployment \`${name}\` in ${file}; ${closestTo(name, known)}`, suggestions)
}
