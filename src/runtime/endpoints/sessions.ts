import type { HostPort, SessionsEndpoint } from '../../core/endpoint.ts'
import { AdminError } from '../../core/error.ts'
import { Secret } from '../../core/secret.ts'
import { parseBoolean, springSettings } from '../../knowledge/settings.ts'
import type { SessionsSettings } from '../configuration/schema.ts'
import { parseHostPorts, parsePort, parseSessionsAddress } from './addresses.ts'
import type { Credentials, EndpointContext, ServiceEnvironment, WithLogin } from './context.ts'
import {
  addressUnknown,
  credentialsOf,
  environmentOrNone,
  optionalCertificates,
  optionalSecret,
  parseSetting,
  reachOf,
  secretOf,
  settingOf,
} from './context.ts'

/** How the store is found, wherever that is written. */
interface Location extends HostPort {
  encrypted: boolean
  database: number
  credentials: Credentials
  sentinel: SessionsEndpoint['sentinel']
  cluster: readonly HostPort[] | null
}

/**
 * Returns the session store of the configuration, otherwise of the service's own settings. Throws NOT_CONFIGURED,
 * SECRET_MISSING, CONFIGURATION.
 */
export async function sessionsEndpoint(context: EndpointContext): Promise<WithLogin<SessionsEndpoint>> {
  const settings = context.settings.sessions ?? {}
  const configured = await configuredLocation(settings, context)
  const { environment, why } = await environmentOrNone(context, { isLoginTold: settings.password !== undefined })
  const discovered = configured ? discoverIfReadable(environment) : discover(environment)
  const location = configured ?? discovered
  if (!location) throw addressUnknown('session store', context, 'sessions.url', why)

  const { user, password, login } = await credentialsOf(
    { ...settings, addressUser: configured?.credentials.user ?? null },
    discovered?.credentials ?? null,
    { ...context, why },
  )
  const { host, port, database, sentinel, cluster, encrypted } = location
  return {
    host,
    port,
    database,
    user,
    password,
    tls: { mode: encrypted ? 'verify' : 'disable', ca: await optionalCertificates(settings.ca) },
    namespace: settings.namespace ?? settingOf(environment, springSettings.sessionNamespace) ?? null,
    sentinel,
    cluster,
    ...reachOf(context, { isConfigured: configured !== null }),
    login,
  }
}

async function configuredLocation(settings: SessionsSettings, { secrets }: EndpointContext): Promise<Location | null> {
  const plain = {
    encrypted: false,
    database: 0,
    credentials: { user: null, password: null },
    sentinel: null,
    cluster: null,
  }
  if (settings.url !== undefined) {
    const address = parseSessionsAddress(settings.url)
    return { ...plain, ...address, credentials: { user: address.user, password: null } }
  }
  // a certificate authority that is configured is meant to be used
  const encrypted = settings.ca !== undefined
  if (settings.sentinel) {
    const nodes = hostPorts(settings.sentinel.nodes, 26_379)
    const password = await optionalSecret(settings.sentinel.password, secrets)
    return { ...plain, ...nodes[0], encrypted, sentinel: { master: settings.sentinel.master, nodes, password } }
  }
  if (settings.cluster) {
    const nodes = hostPorts(settings.cluster, 6379)
    return { ...plain, ...nodes[0], encrypted, cluster: nodes }
  }
  return null
}

/**
 * Reads settings as Spring Boot does: an address takes precedence over sentinels, these over a cluster, all over host
 * and port.
 */
function discover(environment: ServiceEnvironment): Location | null {
  const user = settingOf(environment, springSettings.redisUsername) ?? null
  const password = secretOf(environment, springSettings.redisPassword)
  const encrypted = parseBoolean(settingOf(environment, springSettings.redisTls) ?? '') ?? false
  const database = parseSetting(environment, springSettings.redisDatabase, parseDatabaseNumber) ?? 0
  const plain = { encrypted, database, credentials: { user, password }, sentinel: null, cluster: null }

  const address = parseSetting(environment, springSettings.redisUrl, parseSessionsAddress)
  if (address) {
    const own = { user: address.user, password: address.password === null ? null : new Secret(address.password) }
    return { ...plain, ...address, credentials: own.user || own.password ? own : plain.credentials }
  }
  const sentinels = parseSetting(environment, springSettings.redisSentinelNodes, (value) =>
    parseHostPorts(value, 26_379),
  )
  const master = settingOf(environment, springSettings.redisSentinelMaster)
  if (sentinels && master !== undefined) {
    return {
      ...plain,
      ...sentinels[0],
      sentinel: { master, nodes: sentinels, password: secretOf(environment, springSettings.redisSentinelPassword) },
    }
  }
  const cluster = parseSetting(environment, springSettings.redisClusterNodes, (value) => parseHostPorts(value, 6379))
  if (cluster) return { ...plain, ...cluster[0], cluster }
  const host = settingOf(environment, springSettings.redisHost)
  return host === undefined
    ? null
    : { ...plain, host, port: parseSetting(environment, springSettings.redisPort, parsePort) ?? 6379 }
}

/**
 * Returns the location in the settings; null if they are invalid, which does no harm if the configuration says where
 * the store is.
 */
function discoverIfReadable(environment: ServiceEnvironment): Location | null {
  try {
    return discover(environment)
  } catch (error) {
    if (error instanceof AdminError) return null
    throw error
  }
}

function hostPorts(nodes: readonly string[], defaultPort: number): [HostPort, ...HostPort[]] {
  return parseHostPorts(nodes.join(','), defaultPort)
}

function parseDatabaseNumber(value: string): number {
  if (!/^\d+$/.test(value.trim())) throw new Error('is not a number')
  return Number(value)
}
