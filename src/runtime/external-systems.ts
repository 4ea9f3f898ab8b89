import type { AskOptions } from '../adapters/external-system/index.ts'
import type { ExternalSystem, ShownAnswer, SignIn } from '../core/external-system.ts'
import type { Secret } from '../core/secret.ts'
import { placeOf, secretReader } from './configuration/secrets.ts'
import type { SecretOptions } from './configuration/secrets.ts'
import type { SelectedDeployment } from './configuration/select.ts'
import { kubernetesSettingsOf } from './configuration/platform-of.ts'

export interface ConfiguredIntegration {
  name: string
  url: string
  user: string | null
  /** `from`: where it is kept, for people */
  password: { read: () => Promise<Secret>; from: string } | null
}

/** The external systems of a deployment's configuration. Reading a password throws SECRET_MISSING, INTERRUPTED. */
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

/** Throws CONFIGURATION for a proxy that cannot be used, and INTERRUPTED; all else is told by what it shows. */
export async function examine(url: string, options: AskOptions): Promise<ExternalSystem> {
  return (await import('../adapters/external-system/index.ts')).examineExternalSystem(url, options)
}

/** Asks once with credentials. Throws as requests do. */
export async function signIn(url: string, login: SignIn, options: AskOptions): Promise<ShownAnswer> {
  return (await import('../adapters/external-system/index.ts')).signInOnce(url, login, options)
}
