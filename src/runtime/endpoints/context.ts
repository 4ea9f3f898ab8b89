import { once } from '../../core/answers.ts'
import type { Controls } from '../../core/controls.ts'
import { PartialSettings } from '../../core/deployment.ts'
import type { Reach } from '../../core/endpoint.ts'
import { isLoopback } from '../../core/host.ts'
import { AdminError, messageOf } from '../../core/error.ts'
import { Secret, UnreadableSecret } from '../../core/secret.ts'
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
  /** Returns the service's environment; throws if the platform cannot provide it */
  environment(): Promise<ServiceEnvironment>
  /** Absent: each address is reached as it is */
  reach?: Reach
}

/**
 * Returns how the server of an endpoint is reached, as a part of the endpoint. An address of the configuration that
 * means this machine, or a name that the cluster does not have, is used as it is: its author knows it from here.
 */
export function reachOf({ reach }: EndpointContext, { isConfigured }: { isConfigured: boolean }): { reach?: Reach } {
  if (!reach) return {}
  if (!isConfigured) return { reach }
  return {
    reach: async (address) =>
      isLoopback(address.host)
        ? null
        : reach(address).catch((error: unknown) => {
            if (error instanceof AdminError && error.obstacle?.kind === 'unresolved') return null
            throw error
          }),
  }
}

/**
 * Returns the value in clear, for immediate use; undefined if the variable is absent or blank. Throws the reason if it
 * may not be read.
 */
export function settingOf(environment: ServiceEnvironment, name: string): string | undefined {
  const value = environment.get(name)
  const clear = typeof value === 'string' ? value : value?.reveal()
  return clear?.trim() ? clear : undefined
}

export function secretOf(environment: ServiceEnvironment, name: string): Secret | null {
  const value = settingOf(environment, name)
  return value === undefined ? null : new Secret(value)
}

/**
 * Reads one of the service's own settings; null if it is absent. Throws CONFIGURATION with its name, not its value, if
 * it is invalid.
 */
export function parseSetting<T>(environment: ServiceEnvironment, name: string, parse: (value: string) => T): T | null {
  const value = settingOf(environment, name)
  if (value === undefined) return null
  try {
    return parse(value)
  } catch (error) {
    throw new AdminError('CONFIGURATION', `the service's setting ${name} ${messageOf(error)}`, [], { cause: error })
  }
}

/** Returns the settings without those that may not be read. */
export function readable(environment: ServiceEnvironment): ServiceEnvironment {
  return new Map([...environment].filter(([, value]) => !(value instanceof UnreadableSecret)))
}

/**
 * Returns the service's environment; an empty one, and why, if the platform cannot provide it. `isLoginTold`: the
 * configuration has a login, so the service's is unnecessary and unreadable settings are left out.
 */
export async function environmentOrNone(
  context: EndpointContext,
  { isLoginTold }: { isLoginTold: boolean },
): Promise<{ environment: ServiceEnvironment; why: AdminError | null }> {
  try {
    const environment = await context.environment()
    return {
      environment: isLoginTold ? readable(environment) : environment,
      why: environment instanceof PartialSettings ? environment.missing : null,
    }
  } catch (error) {
    if (!(error instanceof AdminError) || error.code === 'INTERRUPTED') throw error
    return { environment: new Map(), why: error }
  }
}

/** True if the configuration says in full who signs in. */
export function hasLogin({
  url = '',
  user,
  password,
}: {
  url?: string | undefined
  user?: string | undefined
  password?: SecretReference | undefined
}): boolean {
  return password !== undefined && (user !== undefined || /\/\/[^/@]+@/.test(url))
}

/**
 * Returns the error for a part whose address neither the configuration nor the service's settings name. `why`: why
 * those settings cannot be read; null if they can.
 */
export function addressUnknown(
  what: string,
  context: EndpointContext,
  key: string,
  why: AdminError | null,
): AdminError {
  if (why === null) return notConfigured(what, context, key, "the service's settings do not contain this address")
  if (why.code === 'NOT_CONFIGURED') return notConfigured(what, context, key, why.message)
  // unreadable settings are one finding, not one for each part whose address they would name
  const { code, message, suggestions, cause } = why
  return new AdminError(code, message, suggestions, { cause, obstacle: { kind: 'settings' } })
}

export function notConfigured(what: string, context: EndpointContext, key: string, reason: string): AdminError {
  return new AdminError(
    'NOT_CONFIGURED',
    `no ${what} is configured for \`${context.name}\`: set \`${key}\` (${reason})`,
  )
}

export async function optionalSecret(
  reference: SecretReference | undefined,
  read: SecretReader,
): Promise<Secret | null> {
  return reference === undefined ? null : read(reference)
}

export async function optionalCertificates(reference: FileReference | undefined): Promise<string | null> {
  return reference === undefined ? null : readCertificates(reference)
}

export interface Credentials {
  user: string | null
  password: Secret | null
}

/** Whose user and password an endpoint has, for when they are refused. */
export interface Login {
  /**
   * True if the service's settings are known to have the same login, wherever it was found: a server that refuses it
   * refuses the service too
   */
  isService: boolean
  /** Why the service's own password is unknown, if none is configured; otherwise null */
  unread: string | null
}

/** An endpoint, with whose login it has. */
export type WithLogin<Endpoint> = Endpoint & { login: Login }

/**
 * Returns the login to use: what the configuration says, otherwise the service's own. The service's password goes to no
 * user but its own. `service`: null if the service's settings do not show how it signs in; `why`: why they cannot be
 * read.
 */
export async function credentialsOf(
  configured: { user?: string | undefined; password?: SecretReference | undefined; addressUser?: string | null },
  service: Credentials | null,
  { secrets, why }: { secrets: SecretReader; why: AdminError | null },
): Promise<Credentials & { login: Login }> {
  const own = service ?? { user: null, password: null }
  const user = configured.user ?? configured.addressUser ?? own.user
  const password = (await optionalSecret(configured.password, secrets)) ?? (user === own.user ? own.password : null)
  const isService = service !== null && user === own.user && password?.reveal() === own.password?.reveal()
  return { user, password, login: { isService, unread: password === null && why !== null ? why.message : null } }
}

/**
 * Opens a part. If it refuses a login that may not be the service's, the error says so (obstacle `login`), because the
 * service is not affected then; if no password is known, the error says why.
 */
export async function toldByLogin<T>({ isService, unread }: Login, opening: Promise<T>): Promise<T> {
  try {
    return await opening
  } catch (error) {
    const isRefusal = error instanceof AdminError && (error.code === 'UNAUTHENTICATED' || error.code === 'FORBIDDEN')
    if (!isRefusal || isService || error.obstacle) throw error
    const suggestions =
      unread === null ? error.suggestions : [...error.suggestions, `no password is configured, and ${unread}`]
    throw new AdminError(error.code, error.message, suggestions, { cause: error.cause, obstacle: { kind: 'login' } })
  }
}

/** The service's current settings, read again after this process has changed them or others may have. */
export interface CurrentSettings {
  /** Returns the settings; reads them once, and again after a change */
  environment: () => Promise<ServiceEnvironment>
  /**
   * Returns a text that changes when the settings behind addresses do; what cannot be read counts as unchanged.
   * `known`: the settings that were read first
   */
  addresses: (known: ServiceEnvironment) => Promise<string>
  /** Reads the settings again on next use, because others may have changed them */
  renew: () => void
  /** Returns the same control; after its changing methods, the settings are read again */
  watched: <T extends Controls['service'] | Controls['release']>(control: T) => T
}

/** Settings that name servers, and how the service signs in to them */
const ofAddresses = /^SPRING_|_ENDPOINT$/
/** Methods that may change settings */
const changing: ReadonlySet<string> = new Set(['start', 'writeSetting', 'upgrade', 'rollback'])

export function currentSettings(ask: () => Promise<ServiceEnvironment>): CurrentSettings {
  let environment = once(ask)
  let last: string | null = null
  let isChanged = false
  const changed = (): void => {
    environment = once(ask)
    isChanged = true
  }
  return {
    environment: async () => environment(),
    renew: changed,
    async addresses(known) {
      last ??= stateOf(known)
      if (!isChanged) return last
      try {
        const now = readable(await environment())
        isChanged = false
        last = stateOf(now)
      } catch (error) {
        if (!(error instanceof AdminError)) throw error
      }
      return last
    },
    watched: (control) =>
      new Proxy(control, {
        get(target, property) {
          const value: unknown = Reflect.get(target, property, target)
          if (typeof value !== 'function' || !changing.has(String(property))) return value
          // a call that fails may have changed settings
          return async (...input: unknown[]): Promise<unknown> =>
            (Reflect.apply(value, target, input) as Promise<unknown>).finally(changed)
        },
      }),
  }
}

function stateOf(environment: ServiceEnvironment): string {
  const names = [...environment.keys()].filter((name) => ofAddresses.test(name)).sort()
  return JSON.stringify(names.map((name) => [name, settingOf(environment, name)]))
}
