import { AdminError } from '../../core/error.ts'
import type { BrokerEndpoint } from '../../core/endpoint.ts'
import { Secret } from '../../core/secret.ts'
import { defaultBrokerUser, parseBoolean, springSettings, sqsProfile } from '../../knowledge/settings.ts'
import type { BrokerAddress } from './addresses.ts'
import { parseBrokerAddress, parsePort, parseSpringBrokerAddresses } from './addresses.ts'
import type { Credentials, EndpointContext, ServiceEnvironment, WithLogin } from './context.ts'
import {
  addressUnknown,
  credentialsOf,
  environmentOrNone,
  hasLogin,
  optionalCertificates,
  parseSetting,
  reachOf,
  secretOf,
  settingOf,
} from './context.ts'

/**
 * Returns the broker of the configuration, otherwise of the service's own settings. Throws NOT_CONFIGURED,
 * SECRET_MISSING, CONFIGURATION.
 */
export async function brokerEndpoint(context: EndpointContext): Promise<WithLogin<BrokerEndpoint>> {
  const settings = context.settings.broker ?? {}
  const configured = settings.url === undefined ? null : parseBrokerAddress(settings.url)
  const { environment, why } = await environmentOrNone(context, { isLoginTold: hasLogin(settings) })
  const address = configured ?? discoveredAddress(environment)
  if (!address)
    throw usesSqs(environment) ? withoutBroker() : addressUnknown('message broker', context, 'broker.url', why)

  const service = serviceUser(environment, configured ? null : address)
  const { user, password, login } = await credentialsOf(
    { ...settings, addressUser: configured?.user ?? null },
    service,
    { ...context, why },
  )
  const vhost = address.vhost ?? settingOf(environment, springSettings.rabbitVirtualHost) ?? '/'
  const guest = user === null || user === defaultBrokerUser.user
  return {
    host: address.host,
    port: address.port,
    vhost: vhost === '' ? '/' : vhost,
    user: user ?? defaultBrokerUser.user,
    password: password ?? (guest ? new Secret(defaultBrokerUser.password) : null),
    tls: { mode: address.encrypted ? 'verify' : 'disable', ca: await optionalCertificates(settings.ca) },
    managementUrl: settings.managementUrl?.replace(/(?<!\/)\/+$/, '') ?? usualManagementUrl(address),
    ...reachOf(context, { isConfigured: configured !== null || settings.managementUrl !== undefined }),
    login,
  }
}

function discoveredAddress(environment: ServiceEnvironment): BrokerAddress | null {
  const encrypted = parseBoolean(settingOf(environment, springSettings.rabbitTls) ?? '') ?? false
  const listed = parseSetting(environment, springSettings.rabbitAddresses, (value) =>
    parseSpringBrokerAddresses(value, encrypted),
  )
  if (listed) return listed
  const host = settingOf(environment, springSettings.rabbitHost)
  if (host === undefined || usesSqs(environment)) return null
  const port = parseSetting(environment, springSettings.rabbitPort, parsePort) ?? (encrypted ? 5671 : 5672)
  return { host, port, encrypted, vhost: null, user: null, password: null }
}

/** Returns the service's login; like Spring, prefers the address's user. Null if neither broker nor user is named. */
function serviceUser(environment: ServiceEnvironment, address: BrokerAddress | null): Credentials | null {
  const { rabbitAddresses, rabbitHost, rabbitUsername } = springSettings
  const isNamed = [rabbitAddresses, rabbitHost, rabbitUsername].some(
    (name) => settingOf(environment, name) !== undefined,
  )
  if (!isNamed) return null
  if (address?.user)
    return { user: address.user, password: address.password === null ? null : new Secret(address.password) }
  return {
    user: settingOf(environment, rabbitUsername) ?? null,
    password: secretOf(environment, springSettings.rabbitPassword),
  }
}

function usesSqs(environment: ServiceEnvironment): boolean {
  const profiles = settingOf(environment, springSettings.profiles)?.split(',') ?? []
  return profiles.some((profile) => profile.trim() === sqsProfile)
}

function withoutBroker(): AdminError {
  return new AdminError(
    'NOT_CONFIGURED',
    `the service uses SQS (${springSettings.profiles} names \`${sqsProfile}\`), so there is no broker to check`,
  )
}

/** Returns the management plugin's default address; null unless the broker is on its own default port. */
function usualManagementUrl({ host, port, encrypted }: BrokerAddress): string | null {
  const name = host.includes(':') ? `[${host}]` : host
  if (encrypted) return port === 5671 ? `https://${name}:15671` : null
  return port === 5672 ? `http://${name}:15672` : null
}
