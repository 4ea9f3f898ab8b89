import type { DatabaseEndpoint } from '../../core/endpoint.ts'
import type { AdminError } from '../../core/error.ts'
import { Secret } from '../../core/secret.ts'
import { parseJdbcAddress } from '../../knowledge/database.ts'
import { datasourcePrefixes } from '../../knowledge/settings.ts'
import type { DatabaseSettings } from '../configuration/schema.ts'
import type { Credentials, EndpointContext, ServiceEnvironment, WithLogin } from './context.ts'
import {
  addressUnknown,
  credentialsOf,
  environmentOrNone,
  hasLogin,
  notConfigured,
  optionalCertificates,
  parseSetting,
  reachOf,
  secretOf,
  settingOf,
} from './context.ts'
import type { DatabaseAddress } from './addresses.ts'
import { parseDatabaseAddress } from './addresses.ts'

/**
 * Returns the service's databases, the main one first: those of the configuration, otherwise those of the service's own
 * settings. Throws NOT_CONFIGURED, SECRET_MISSING, CONFIGURATION.
 */
export async function databaseEndpoints(context: EndpointContext): Promise<Endpoints> {
  const [first, ...others] = context.settings.database ?? []
  const { environment, why } = await environmentOrNone(context, { isLoginTold: hasLogin(first ?? {}) })
  const known = { ...context, why }
  if (first?.url !== undefined) {
    const own = datasources(environment).find(({ isOfLiquibase }) => !isOfLiquibase)
    return distinct([
      await endpointOf(first, own?.credentials ?? null, known),
      ...(await Promise.all(others.map((it) => endpointOf(it, null, known)))),
    ])
  }
  const [main, ...further] = datasources(environment)
  if (!main) throw addressUnknown('database', context, 'database.url', why)
  const configured = others.map((it) => endpointOf(it, null, known))
  const discovered = others.length > 0 ? [] : further.map((it) => endpointOf({}, it.credentials, known, it.address))
  return distinct([
    await endpointOf(first ?? {}, main.credentials, known, main.address),
    ...(await Promise.all([...configured, ...discovered])),
  ])
}

type Endpoint = WithLogin<DatabaseEndpoint>
type Endpoints = [Endpoint, ...Endpoint[]]

interface Datasource {
  address: DatabaseAddress
  credentials: Credentials
  isOfLiquibase: boolean
}

/** Returns the data sources, the main one first, the one of Liquibase alone (`spring.liquibase.url`) last. */
function datasources(environment: ServiceEnvironment): Datasource[] {
  const all = datasourcePrefixes.flatMap(
    (prefix) => datasourceAt(environment, prefix, 'USERNAME', parseDatabaseAddress) ?? [],
  )
  // an invalid one must not hide the others
  const own = datasourceAt(environment, 'SPRING_LIQUIBASE', 'USER', (text) =>
    parseJdbcAddress(text) === null ? null : parseDatabaseAddress(text),
  )
  return [...all, ...(own ? [{ ...own, isOfLiquibase: true }] : [])]
}

function datasourceAt(
  environment: ServiceEnvironment,
  prefix: string,
  user: string,
  parse: (text: string) => DatabaseAddress | null,
): Datasource | null {
  const address = parseSetting(environment, `${prefix}_URL`, parse)
  if (!address) return null
  const password =
    secretOf(environment, `${prefix}_PASSWORD`) ?? (address.password === null ? null : new Secret(address.password))
  return {
    address,
    credentials: { user: settingOf(environment, `${prefix}_${user}`) ?? address.user, password },
    isOfLiquibase: false,
  }
}

async function endpointOf(
  settings: DatabaseSettings,
  service: Credentials | null,
  context: EndpointContext & { why: AdminError | null },
  discovered?: DatabaseAddress,
): Promise<Endpoint> {
  const configured = settings.url === undefined ? null : parseDatabaseAddress(settings.url)
  const address = configured ?? discovered
  if (!address)
    throw notConfigured(
      'address for one of the databases',
      context,
      'database.url',
      'each item of the `database` list needs it',
    )
  const { user, password, login } = await credentialsOf(
    { ...settings, addressUser: configured?.user ?? null },
    service,
    context,
  )
  const named =
    address.caFile === null ? undefined : { path: address.caFile, at: "sslrootcert in the database's address" }
  const ca = await optionalCertificates(settings.ca ?? named)
  // a certificate authority that is configured is meant to be used
  const mode = settings.ca !== undefined && address.tlsMode === 'prefer' ? 'verify' : address.tlsMode
  return {
    hosts: address.hosts,
    database: address.database,
    user,
    password,
    tls: { mode, ca },
    schema: address.schema,
    ...reachOf(context, { isConfigured: configured !== null }),
    login,
  }
}

/** Removes repeated databases: by default, Helm gives all data sources one address. */
function distinct([first, ...others]: Endpoints): Endpoints {
  const seen = new Set([identityOf(first)])
  return [first, ...others.filter((endpoint) => !seen.has(identityOf(endpoint)) && seen.add(identityOf(endpoint)))]
}

function identityOf({ hosts, database, schema }: DatabaseEndpoint): string {
  return JSON.stringify([hosts, database, schema])
}
