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
/** The same one as other users see it: the owner of a project, and who has no role. */
const labAsOthers: readonly string[] = ['lab-owner', 'lab-guest']

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
 * that name; so are `lab-owner` and `lab-guest`.
 */
export async function findDeployment(request: ConfigurationRequest & { name?: string | undefined }): Promise<SelectedDeployment> {
  const { name } = request
  if (name === undefined || (name !== lab && !labAsOthers.includes(name))) return selectDeployment(await loadConfiguration(request), name)
  const own = await findConfiguration(request)
  if (own?.settings.deployments.has(name)) return selectDeployment(own, name)
  return selectDeployment(await labConfiguration(request, name), name)
}

async function labConfiguration({ environment, workingDirectory }: ConfigurationRequest, name: string): Promise<Configuration> {
  const file = labConfigurationFile(environment)
  if (await exists(file)) return readConfiguration(file, workingDirectory)
  throw new AdminError('CONFIGURATION', `no deployment \`${name}\`: the practice deployment is not up (no ${file})`, [
    'testops-admin lab up',
  ])
}

function unknownDeployment(name: string, names: readonly string[], file: string): AdminError {
  const known = [...new Set([...names, lab])]
  const suggestions = closestNames(name, known).map((it) => `-d ${it}`)
  return new AdminError('USAGE', `no deployment \`${name}\` in ${file}; ${closestTo(name, known)}`, suggestions)
}
