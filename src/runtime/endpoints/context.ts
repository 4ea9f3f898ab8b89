import { AdminError, messageOf } from '../../core/error.ts'
import { Secret } from '../../core/secret.ts'
import type { FileReference, SecretReference } from '../configuration/nodes.ts'
import type { DeploymentSettings } from '../configuration/schema.ts'
import type { SecretReader } from '../configuration/secrets.ts'
import { readCertificates } from '../configuration/secrets.ts'

/** The service's environment as the platform gives it. */
export type ServiceEnvironment = ReadonlyMap<string, string | Secret>

/** What endpoints are made of: the configuration first, then the service's own settings. */
export interface EndpointContext {
  name: string
  settings: DeploymentSettings
  secrets: SecretReader
  /** the service's environment; throws where the platform cannot tell */
  environment(): Promise<ServiceEnvironment>
}

/** The value in clear, for what is made of it at once; undefined where the variable is absent or blank. */
export function settingOf(environment: ServiceEnvironment, name: string): string | undefined {
  const value = environment.get(name)
  const clear = typeof value === 'string' ? value : value?.reveal()
  return clear?.trim() ? clear : undefined
}

export function secretOf(environment: ServiceEnvironment, name: string): Secret | null {
  const value = settingOf(environment, name)
  return value === undefined ? null : new Secret(value)
}

/** Reads one of the service's own settings. Throws CONFIGURATION with its name, not its value, where it makes no sense. */
export function parseSetting<T>(environment: ServiceEnvironment, name: string, parse: (value: string) => T): T | null {
  const value = settingOf(environment, name)
  if (value === undefined) return null
  try {
    return parse(value)
  } catch (error) {
    throw new AdminError('CONFIGURATION', `the service's setting ${name} ${messageOf(error)}`, [], { cause: error })
  }
}

/** The service's environment where the configuration leaves something out; an empty one where the platform cannot tell. */
export async function environmentOrNone(
  context: EndpointContext,
): Promise<{ environment: ServiceEnvironment; reason: string | null }> {
  try {
    return { environment: await context.environment(), reason: null }
  } catch (error) {
    // that the platform cannot be asked is a finding about the service, not about each part whose address it would have told
    if (!(error instanceof AdminError) || error.code === 'INTERRUPTED') throw error
    return { environment: new Map(), reason: error.message }
  }
}

/** As `environmentOrNone`, where the configuration suffices: then what the platform cannot tell does no harm. */
export async function environmentIfAny(context: EndpointContext): Promise<ServiceEnvironment> {
  return context.environment().catch(() => new Map<string, string>())
}

export function notConfigured(what: string, context: EndpointContext, key: string, reason: string | null): AdminError {
  const because = reason === null ? "the service's settings name none" : reason
  return new AdminError('NOT_CONFIGURED', `no ${what} is configured for \`${context.name}\`: set \`${key}\` (${because})`)
}

export async function optionalSecret(reference: SecretReference | undefined, read: SecretReader): Promise<Secret | null> {
  return reference === undefined ? null : read(reference)
}

export async function optionalCertificates(reference: FileReference | undefined): Promise<string | null> {
  return reference === undefined ? null : readCertificates(reference)
}

export interface Credentials {
  user: string | null
  password: Secret | null
}

/**
 * Whom to sign in as: what the configuration says, else the service's own user. The service's password goes to no user but its own.
 */
export async function credentialsOf(
  configured: { user?: string | undefined; password?: SecretReference | undefined; addressUser?: string | null },
  service: Credentials,
  read: SecretReader,
): Promise<Credentials> {
  const user = configured.user ?? configured.addressUser ?? service.user
  const password = await optionalSecret(configured.password, read)
  return { user, password: password ?? (user === service.user ? service.password : null) }
}
