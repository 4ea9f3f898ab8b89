import { hasPassword, isSecretVariable } from '../core/redaction/table.ts'

/** The service's own settings: environment variables, named after the vendor (FIELD-NOTES.md 0 and 1.3). */

/** What the service is called, as a unit, a container and a workload (SPEC.md 1). */
export const serviceName = 'testops'

export interface Vendor {
  /** First part of the names of settings */
  prefix: string
  /** Package of loggers, dotted or as in a variable's name */
  package: string
}

/** As SPEC.md writes them: assumed unless the service's environment or the configuration says more. */
export const defaultVendor: Vendor = { prefix: 'VENDOR', package: 'VENDOR_PACKAGE' }

export interface SettingNames {
  /** Makes the service declare durable queues (SPEC.md 7) */
  rabbitDurable: string
  /** Life of a Bearer token in seconds (SPEC.md 5) */
  tokenValiditySeconds: string
  redisNamespace: string
  redisSessionTtl: string
  endpoint: string
  /** Level of the integrations' logger (SPEC.md 7) */
  integrationLogLevel: string
}

/** Returns the names of the settings with the vendor's prefix or package. */
export function settingNames(vendor: Vendor): SettingNames {
  return {
    rabbitDurable: `${vendor.prefix}_RABBIT_DURABLE`,
    tokenValiditySeconds: `${vendor.prefix}_JWT_ACCESS_TOKEN_VALIDITY_SECONDS`,
    redisNamespace: `${vendor.prefix}_REDIS_NAMESPACE`,
    redisSessionTtl: `${vendor.prefix}_REDIS_SESSIONTTL`,
    endpoint: `${vendor.prefix}_ENDPOINT`,
    integrationLogLevel: `LOGGING_LEVEL_${packageInVariable(vendor.package)}_INTEGRATION`,
  }
}

/** Settings of Spring Boot that the service reads (FIELD-NOTES.md 1.3). */
export const springSettings = {
  datasourceUrl: 'SPRING_DATASOURCE_URL',
  datasourceUsername: 'SPRING_DATASOURCE_USERNAME',
  datasourcePassword: 'SPRING_DATASOURCE_PASSWORD',
  /** Milliseconds that the service waits for a connection; HikariCP's default is 30 s */
  hikariConnectionTimeout: 'SPRING_DATASOURCE_HIKARI_CONNECTION_TIMEOUT',
  rabbitAddresses: 'SPRING_RABBITMQ_ADDRESSES',
  rabbitHost: 'SPRING_RABBITMQ_HOST',
  rabbitPort: 'SPRING_RABBITMQ_PORT',
  rabbitVirtualHost: 'SPRING_RABBITMQ_VIRTUAL_HOST',
  rabbitUsername: 'SPRING_RABBITMQ_USERNAME',
  rabbitPassword: 'SPRING_RABBITMQ_PASSWORD',
  rabbitTls: 'SPRING_RABBITMQ_SSL_ENABLED',
  redisUrl: 'SPRING_DATA_REDIS_URL',
  redisUsername: 'SPRING_DATA_REDIS_USERNAME',
  redisTls: 'SPRING_DATA_REDIS_SSL_ENABLED',
  redisSentinelMaster: 'SPRING_DATA_REDIS_SENTINEL_MASTER',
  redisSentinelNodes: 'SPRING_DATA_REDIS_SENTINEL_NODES',
  redisSentinelPassword: 'SPRING_DATA_REDIS_SENTINEL_PASSWORD',
  redisClusterNodes: 'SPRING_DATA_REDIS_CLUSTER_NODES',
  sessionNamespace: 'SPRING_SESSION_REDIS_NAMESPACE',
  redisHost: 'SPRING_DATA_REDIS_HOST',
  redisPort: 'SPRING_DATA_REDIS_PORT',
  redisPassword: 'SPRING_DATA_REDIS_PASSWORD',
  redisDatabase: 'SPRING_DATA_REDIS_DATABASE',
  sessionRepositoryType: 'SPRING_SESSION_REDIS_REPOSITORY_TYPE',
  profiles: 'SPRING_PROFILES_ACTIVE',
  logFile: 'LOGGING_FILE_NAME',
  serverPort: 'SERVER_PORT',
  serverAddress: 'SERVER_ADDRESS',
  timeZone: 'TZ',
  liquibaseLockWaitMinutes: 'LIQUIBASE_CHANGELOGLOCK_WAIT_TIME_IN_MINUTES',
  liquibaseLockPollSeconds: 'LIQUIBASE_CHANGELOGLOCK_POLL_RATE',
} as const

/**
 * First parts of the names of its data sources' settings, the main one first: each has `_URL`, `_USERNAME`, `_PASSWORD`
 * (FIELD-NOTES.md 1.3).
 */
export const datasourcePrefixes = [
  'SPRING_DATASOURCE',
  'SPRING_DATASOURCEUPLOADER',
  'SPRING_DATASOURCEANALYTICS',
  'SPRING_DATASOURCEMIGRATION',
] as const

/** The profile under which the service uses SQS in place of a broker (FIELD-NOTES.md 1.3). */
export const sqsProfile = 'sqs'

/** Spring's login at the broker if nothing else is set. */
export const defaultBrokerUser = { user: 'guest', password: 'guest' } as const

/** What the service does if a setting is absent. */
export const settingDefaults = {
  /** SPEC.md 7: "declares queues with durable=false by default" */
  rabbitDurable: false,
  /** SPEC.md 5 and 8: 1 hour */
  tokenValiditySeconds: 3600,
} as const

const prefixedEndings = [
  '_RABBIT_DURABLE',
  '_JWT_ACCESS_TOKEN_VALIDITY_SECONDS',
  '_REDIS_NAMESPACE',
  '_REDIS_SESSIONTTL',
] as const
/** Names of loggers' settings, which contain the vendor's package (SPEC.md 7; FIELD-NOTES.md 1.3) */
const packagedLogger = /^LOGGING_LEVEL_([A-Z0-9_]+?)_(?:INTEGRATION|REPORT_ISSUE_LISTENER)$/

/** The vendor's prefixes and packages in some names of settings, as in a variable's name, the most frequent first. */
export interface VendorSigns {
  prefixes: readonly string[]
  packages: readonly string[]
}

/** Reads the vendor's signs from names of settings; names of Spring Boot's own settings show nothing. */
export function vendorSigns(names: Iterable<string>): VendorSigns {
  const all = [...names]
  const prefixes = all.flatMap((name) =>
    ownPrefixes.some((prefix) => name.startsWith(prefix))
      ? []
      : prefixedEndings.filter((ending) => name.endsWith(ending)).map((ending) => name.slice(0, -ending.length)),
  )
  return {
    prefixes: byFrequency(prefixes),
    packages: byFrequency(all.flatMap((name) => packagedLogger.exec(name)?.[1] ?? [])),
  }
}

/**
 * Returns the vendor whose names the service's environment has, otherwise the given one (FIELD-NOTES.md 0). A name that
 * fits the given vendor settles it; among others the most frequent prefix wins.
 */
export function vendorIn(names: Iterable<string>, given: Vendor = defaultVendor): Vendor {
  const { prefixes, packages } = vendorSigns(names)
  return {
    prefix: prefixes.includes(given.prefix) ? given.prefix : (prefixes[0] ?? given.prefix),
    package: packages.includes(packageInVariable(given.package)) ? given.package : (packages[0] ?? given.package),
  }
}

/** Returns the vendor's prefix of a setting's name; null if the setting is not one with a prefix. */
export function prefixOf(name: string): string | null {
  const ending = ownPrefixes.some((prefix) => name.startsWith(prefix))
    ? undefined
    : prefixedEndings.find((it) => name.endsWith(it))
  return ending === undefined ? null : name.slice(0, -ending.length)
}

/** True if the value of a setting must be kept secret, by its name or because it is an address with a password. */
export function isSecretSetting(name: string, value: string): boolean {
  return isSecretVariable(name) || hasPassword(value)
}

/**
 * True if a setting's value says where a part is or how it is used, so that a report may show it even if it was read
 * from among secrets.
 */
export function isPlaceSetting(name: string, value: string): boolean {
  return placeEnding.test(name) && !isSecretSetting(name, value)
}

const placeEnding = new RegExp(
  '(?:^|_)(?:URL|URI|HOSTS?|PORTS?|USER|USERNAME|DATABASE|SCHEMA|VIRTUAL_?HOST|NODES|NAMESPACE|TABLE_NAME|DURABLE|' +
    'SESSIONTTL|SECONDS|ENABLED|TZ|TIMEZONE|TIME_ZONE|OPTS|OPTIONS)$',
  'i',
)

const ownPrefixes = ['SPRING_', 'SERVER_', 'LOGGING_', 'LIQUIBASE_', 'MANAGEMENT_'] as const

/**
 * True if a variable of that name is one of the service's own settings. `others`: further names, which show the
 * vendor's prefix.
 */
export function isOfService(name: string, others: Iterable<string> = []): boolean {
  return [...ownPrefixes, `${vendorIn([name, ...others]).prefix}_`].some((prefix) => name.startsWith(prefix))
}

/** Parses a boolean as Spring Boot does; null if it is none. */
export function parseBoolean(value: string): boolean | null {
  const word = value.trim().toLowerCase()
  if (['true', 'on', 'yes', '1'].includes(word)) return true
  if (['false', 'off', 'no', '0'].includes(word)) return false
  return null
}

/** True if a logger of that level writes debug output. `level`: null if none is set. */
export function isDebug(level: string | null): boolean {
  return /^(debug|trace|all)$/i.test(level?.trim() ?? '')
}

/** Returns `io.qameta.allure` as in a variable's name: dots become underscores, dashes go. */
function packageInVariable(name: string): string {
  return name.replaceAll('.', '_').replaceAll('-', '').toUpperCase()
}

function byFrequency(words: readonly string[]): string[] {
  const counts = new Map<string, number>()
  for (const word of words) if (word) counts.set(word, (counts.get(word) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1]).map(([word]) => word)
}
