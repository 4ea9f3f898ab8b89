import type { DatabaseEndpoint } from '../../core/endpoint.ts'
import { Secret } from '../../core/secret.ts'
import { datasourcePrefixes } from '../../knowledge/settings.ts'
import type { DatabaseSettings } from '../configuration/schema.ts'
import type { Credentials, EndpointContext, ServiceEnvironment } from './context.ts'
import {
  credentialsOf,
  environmentIfAny,
  environmentOrNone,
  notConfigured,
  optionalCertificates,
  parseSetting,
  secretOf,
  settingOf,
} from './context.ts'
import type { DatabaseAddress } from './database-address.ts'
import { parseDatabaseAddress } from './database-address.ts'

/**
 * The service's databases, the main one first: those of the configuration, else those of the service's own settings.
 * Throws NOT_CONFIGURED, SECRET_MISSING, CONFIGURATION.
 */
export async function databaseEndpoints(context: EndpointContext): Promise<[DatabaseEndpoint, ...DatabaseEndpoint[]]> {
  const [first, ...others] = context.settings.database ?? []
  if (first?.url !== undefined) {
    const own = datasources(await environmentIfAny(context))[0]
    return distinct([
      await endpointOf(first, own?.credentials ?? nobody, context),
      ...(await Promise.all(others.map((it) => endpointOf(it, nobody, context)))),
    ])
  }
  const { environment, reason } = await environmentOrNone(context)
  const [main, ...further] = datasources(environment)
  if (!main) throw notConfigured('database', context, 'database.url', reason)
  const configured = others.map((it) => endpointOf(it, nobody, context))
  const discovered = others.length > 0 ? [] : further.map((it) => endpointOf({}, it.credentials, context, it.address))
  return distinct([
    await endpointOf(first ?? {}, main.credentials, context, main.address),
    ...(await Promise.all([...configured, ...discovered])),
  ])
}

interface Datasource {
  address: DatabaseAddress
  credentials: Credentials
}

const nobody: Credentials = { user: null, password: null }

function datasources(environment: ServiceEnvironment): Datasource[] {
  return datasourcePrefixes.flatMap((prefix) => {
    const address = parseSetting(environment, `${prefix}_URL`, parseDatabaseAddress)
    if (!address) return []
    const password =
      secretOf(environment, `${prefix}_PASSWORD`) ?? (address.password === null ? null : new Secret(address.password))
    return [{ address, credentials: { user: settingOf(environment, `${prefix}_USERNAME`) ?? address.user, password } }]
  })
}

async function endpointOf(
  settings: DatabaseSettings,
  service: Credentials,
  context: EndpointContext,
  discovered?: DatabaseAddress,
): Promise<DatabaseEndpoint> {
  const configured = settings.url === undefined ? null : parseDatabaseAddress(settings.url)
  const address = configured ?? discovered
  if (!address) throw notConfigured('address of a further database', context, 'database', 'each item of the list needs its `url`')
  const { user, password } = await credentialsOf({ ...settings, addressUser: configured?.user ?? null }, service, context.secrets)
  const named = address.caFile === null ? undefined : { path: address.caFile, at: "sslrootcert in the database's address" }
  const ca = await optionalCertificates(settings.ca ?? named)
  // a certificate authority is named in order to be used
  const mode = settings.ca !== undefined && address.tlsMode === 'prefer' ? 'verify' : address.tlsMode
  return { hosts: address.hosts, database: address.database, user, password, tls: { mode, ca }, schema: address.schema }
}

/** Helm gives all data sources one address by default: each database is looked at once. */
function distinct([first, ...others]: [DatabaseEndpoint, ...DatabaseEndpoint[]]): [DatabaseEndpoint, ...DatabaseEndpoint[]] {
  const seen = new Set([identityOf(first)])
  return [first, ...others.filter((endpoint) => !seen.has(identityOf(endpoint)) && seen.add(identityOf(endpoint)))]
}

function identityOf({ hosts, database, schema }: DatabaseEndpoint): string {
  return JSON.stringify([hosts, database, schema])
}
