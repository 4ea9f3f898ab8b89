import { AdminError } from '../../core/error.ts'
import { closestNames, closestTo } from '../../core/nearest.ts'
import { labConfigurationFile } from '../paths.ts'
import type { Seen } from '../../platforms/index.ts'
import type { Discovered, Discovery } from '../discover.ts'
import { exists } from './find.ts'
import type { ConfigurationRequest } from './find.ts'
import type { Configuration, EveryDeployment } from './load.ts'
import { everyDeployment, findConfiguration, readConfiguration, withoutConfiguration } from './load.ts'
import type { DeploymentSettings } from './schema.ts'
import { command } from '../../core/shell-command.ts'

export interface SelectedDeployment {
  name: string
  settings: DeploymentSettings
  /** Absolute path of the configuration */
  file: string
  /** If there is no such file: the deployment that was found and is used, for people */
  found?: string
  /** What was opened to find it */
  seen?: Seen
}

export interface DeploymentRequest extends ConfigurationRequest {
  name?: string | undefined
  signal?: AbortSignal | undefined
  /** Receives the name of the deployment that is used without a configuration */
  tell?: ((message: string) => void) | undefined
  /** Asks which of several found deployments to use; without it, several are an error */
  choose?: ((found: readonly Discovered[]) => Promise<Discovered>) | undefined
}

const lab = 'lab'
/** The practice deployment as other users see it: the owner of a project, and a user without a role. */
const labAsOthers: readonly string[] = ['lab-owner', 'lab-guest']

/**
 * Selects the deployment of that name; without a name, the `current` one, otherwise the only one. Throws USAGE for an
 * unknown name, CONFIGURATION if there are several and none is chosen, or `current` names none.
 */
export function selectDeployment(configuration: Configuration, name?: string): SelectedDeployment {
  if (name === undefined && configuration.wrongCurrent) throw configuration.wrongCurrent
  const { deployments, current } = configuration.settings
  const names = [...deployments.keys()]
  const chosen = name ?? current ?? (names.length === 1 ? names[0] : undefined)
  if (chosen === undefined) {
    throw new AdminError(
      'CONFIGURATION',
      `${configuration.file} has several deployments, but no \`current\` entry to select one`,
      names.map((known) => command`-d ${known}`),
    )
  }
  const settings = deployments.get(chosen)
  if (settings) return { name: chosen, settings, file: configuration.file }
  throw unknownDeployment(chosen, names, configuration.file)
}

/**
 * Loads the configuration and selects a deployment; without a configuration, one found on this machine or from it.
 * `lab`, `lab-owner` and `lab-guest` are the practice deployment unless the operator's own configuration has that name.
 * Throws as `selectDeployment`, and CONFIGURATION if none is found, or if several are and none is chosen.
 */
export async function findDeployment(request: DeploymentRequest): Promise<SelectedDeployment> {
  const { name } = request
  const own = await findConfiguration(request)
  if (name !== undefined && isOfLab(name) && !own?.settings.deployments.has(name)) {
    return selectDeployment(await labConfiguration(request, name), name)
  }
  if (own) return selectDeployment(own, name)
  const { discover } = await import('../discover.ts')
  return selectDiscovered(await discover({ ...request, isKept: true }), request)
}

/** One of several deployments, or why it cannot be used. `isEntryWrong`: other commands then refuse the whole file. */
export type OneOfAll = { name: string } & (
  | { selected: SelectedDeployment }
  | { error: AdminError; isEntryWrong?: boolean }
)

/**
 * Returns the deployments of these names, else all of the configuration, else all that are found. Throws USAGE for an
 * unknown name, CONFIGURATION if there is no deployment, or the configuration is wrong as a whole.
 */
export async function everySelected(request: DeploymentRequest, names: readonly string[] | null): Promise<OneOfAll[]> {
  const every = await everyDeployment(request)
  const one = (name: string, settings: DeploymentSettings | AdminError): OneOfAll =>
    settings instanceof AdminError
      ? { name, error: settings, isEntryWrong: true }
      : { name, selected: { name, settings, file: every!.file } }
  if (names !== null) return Promise.all([...new Set(names)].map(async (name) => oneNamed(name, every, request, one)))
  if (every) return [...every.deployments].map(([name, settings]) => one(name, settings))
  const { discover } = await import('../discover.ts')
  const discovery = await discover(request)
  if (discovery.found.length === 0) throw withoutConfiguration(request, discovery)
  return discovery.found.map(({ name, settings, file, what }) => ({
    name,
    selected: { name, settings, file, found: what },
  }))
}

async function oneNamed(
  name: string,
  every: EveryDeployment | null,
  request: ConfigurationRequest,
  one: (name: string, settings: DeploymentSettings | AdminError) => OneOfAll,
): Promise<OneOfAll> {
  const settings = every?.deployments.get(name)
  if (settings) return one(name, settings)
  if (isOfLab(name)) {
    try {
      return { name, selected: selectDeployment(await labConfiguration(request, name), name) }
    } catch (error) {
      if (error instanceof AdminError) return { name, error }
      throw error
    }
  }
  if (every) throw unknownDeployment(name, [...every.deployments.keys()], every.file)
  return { name, selected: await findDeployment({ ...request, name }) }
}

/** True for the practice deployment, also as other users see it. */
export const isOfLab = (name: string): boolean => name === lab || labAsOthers.includes(name)

/** Selects the deployment that was found, or that the operator chooses. Throws CONFIGURATION, USAGE. */
export async function selectDiscovered(discovery: Discovery, request: DeploymentRequest): Promise<SelectedDeployment> {
  const { found, unseen } = discovery
  const { name, tell, choose } = request
  const [first, ...others] = found
  if (!first) throw withoutConfiguration(request, discovery)
  const chosen =
    name !== undefined ? found.find((it) => it.name === name) : others.length === 0 ? first : await choose?.(found)
  if (chosen) {
    tell?.(`No configuration: using ${chosen.what}`)
    for (const reason of unseen) tell?.(`Not searched: ${reason}`)
    return {
      name: chosen.name,
      settings: chosen.settings,
      file: chosen.file,
      found: chosen.what,
      ...(chosen.seen && { seen: chosen.seen }),
    }
  }
  const names = found.map((it) => it.name)
  const all = [
    ...found.map(({ name: known, what }) => `\`${known}\`, the ${what}`),
    ...unseen.map((reason) => `not searched: ${reason}`),
  ].join('; ')
  if (name === undefined) {
    throw new AdminError(
      'CONFIGURATION',
      `found several deployments, but no configuration to select one. Found: ${all}`,
      names.map((known) => command`-d ${known}`),
    )
  }
  throw new AdminError(
    'USAGE',
    `found no deployment \`${name}\` and no configuration. Found: ${all}`,
    closestOrAll(name, names).map((it) => command`-d ${it}`),
  )
}

function closestOrAll(name: string, names: readonly string[]): readonly string[] {
  const near = closestNames(name, [...names])
  return near.length > 0 ? near : names
}

async function labConfiguration(
  { environment, workingDirectory }: ConfigurationRequest,
  name: string,
): Promise<Configuration> {
  const file = labConfigurationFile(environment)
  if (await exists(file)) return readConfiguration(file, { environment, workingDirectory })
  throw new AdminError(
    'CONFIGURATION',
    `no deployment \`${name}\`: the practice deployment is not running (${file} is missing)`,
    ['testops-admin lab up'],
  )
}

/** Returns the error for a name that a configuration does not have, with the nearest ones. */
export function unknownDeployment(name: string, names: readonly string[], file: string): AdminError {
  const known = [...new Set([...names, lab])]
  const suggestions = closestNames(name, known).map((it) => command`-d ${it}`)
  return new AdminError('USAGE', `no deployment \`${name}\` in ${file}; ${closestTo(name, known)}`, suggestions)
}
