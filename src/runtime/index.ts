import type { AskOptions } from '../adapters/external-system/index.ts'
import type { ExternalSystem, ShownAnswer, SignIn } from '../core/external-system.ts'
import type { Secret } from '../core/secret.ts'
import { placeOf, secretReader } from './configuration/secrets.ts'
import type { SecretOptions } from './configuration/secrets.ts'
import type { SelectedDeployment } from './configuration/select.ts'
import { kubernetesSettingsOf } from './configuration/platform-of.ts'

export { platformOf } from './configuration/platform-of.ts'
export { runProgram } from '../adapters/process.ts'
export { assertOwnFolder } from '../adapters/trust/assert.ts'
export type { Discovered } from './discover.ts'
export { discover } from './discover.ts'
export { initScript } from '../platforms/index.ts'
export { together } from './configuration/validate.ts'
export type { Environment } from './paths.ts'
export { knownDeployments, setCurrent } from './configuration/deployments.ts'
export { findConfiguration, loadConfiguration } from './configuration/load.ts'
export { everySelected, findDeployment, isOfLab, selectDeployment } from './configuration/select.ts'
export type { OneOfAll, SelectedDeployment } from './configuration/select.ts'
export { machineIn, machinesOf, thisMachine } from './machines.ts'
export type { OpenedDeployment, OpenOptions } from './open-deployment.ts'
export { openDeployment } from './open-deployment.ts'
export { ownCheckFiles, ownChecks, ownChecksHere } from './own-checks/index.ts'
export { composeFilesOf, openFile, placeIfThere, placeOfFile } from './open-files.ts'
export { parseHttpAddress } from './endpoints/addresses.ts'
export { configHome, labConfigurationFile, labDirectory, recordsOf, recordsOfLab, stateHome } from './paths.ts'

export interface ConfiguredIntegration {
  name: string
  url: string
  user: string | null
  /** `from`: where it is kept, for people */
  password: { read: () => Promise<Secret>; from: string } | null
}

/** Returns the external systems in the configuration. Reading a password throws SECRET_MISSING, INTERRUPTED. */
export function configuredIntegrations(
  selected: SelectedDeployment,
  options: Omit<SecretOptions, 'cluster'>,
): ConfiguredIntegration[] {
  const read = secretReader({ ...options, cluster: kubernetesSettingsOf(selected) })
  return (selected.settings.integrations ?? []).map(({ name, url, user = null, password }) => ({
    name,
    url,
    user,
    password: password ? { read: async () => read(password), from: placeOf(password) } : null,
  }))
}

/** Examines an external system and returns what shows. Throws CONFIGURATION for an unusable proxy, INTERRUPTED. */
export async function examine(url: string, options: AskOptions): Promise<ExternalSystem> {
  return (await import('../adapters/external-system/index.ts')).examineExternalSystem(url, options)
}

/** Asks once with credentials. Throws as requests do. */
export async function signIn(url: string, login: SignIn, options: AskOptions): Promise<ShownAnswer> {
  return (await import('../adapters/external-system/index.ts')).signInOnce(url, login, options)
}
