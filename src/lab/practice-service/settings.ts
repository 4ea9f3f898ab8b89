import { isTimeZone } from '../../core/local-time.ts'
import { Secret } from '../../core/secret.ts'
import { changelogLock } from '../../knowledge/lock.ts'
import type { Vendor } from '../../knowledge/settings.ts'
import { parseBoolean, settingDefaults, settingNames, springSettings } from '../../knowledge/settings.ts'
import { throwable, StartupFailure } from './log/log.ts'

/** A pgjdbc address (FIELD-NOTES.md 1.3), without credentials. */
export interface JdbcAddress {
  host: string
  port: number
  database: string
  /** pgjdbc's default name if the address has none */
  applicationName: string
  schema: string | null
  encrypted: boolean
}

/** Reads `jdbc:postgresql://h:p[,h2:p]/db?…`; the first host counts. Null if it is not such an address. */
export function parseJdbcUrl(text: string): JdbcAddress | null {
  const parts = /^jdbc:postgresql:\/\/([^/?#]*)\/([^?#]*)(?:\?(.*))?$/.exec(text.trim())
  if (!parts) return null
  const first = /^(\[[^\]]+\]|[^:,]*)(?::(\d+))?/.exec(parts[1]!)
  const parameters = new URLSearchParams(parts[3] ?? '')
  return {
    host: (first?.[1] || 'localhost').replace(/^\[|\]$/g, ''),
    port: Number(first?.[2] ?? 5432),
    database: decodeURIComponent(parts[2]!),
    applicationName: parameters.get('ApplicationName') ?? 'PostgreSQL JDBC Driver',
    schema: parameters.get('currentSchema'),
    encrypted: ['require', 'verify-ca', 'verify-full'].includes(parameters.get('sslmode') ?? ''),
  }
}

export type Environment = Readonly<Record<string, string | undefined>>

/** The settings of the log, which must work before anything else is read. */
interface LogSettings {
  logFile: string | null
  timeZone: string
}

export interface ServiceSettings {
  database: JdbcAddress & { user: string; password: Secret; connectionTimeoutMs: number }
  liquibase: { waitMs: number; pollMs: number }
  broker: { host: string; port: number; vhost: string; user: string; password: Secret; durable: boolean }
  redis: { host: string; port: number; database: number; password: Secret | null }
  sessions: { namespace: string; indexed: boolean; maxInactiveSeconds: number }
  tokenSeconds: number
  /** null: a new one is made at each start */
  jwtSecret: Secret | null
  address: string
  port: number
  timeZone: string
}

export function readLogSettings(environment: Environment): LogSettings {
  const zone = environment[springSettings.timeZone]
  return {
    logFile: environment[springSettings.logFile] || null,
    // a JVM uses GMT for an unknown zone
    timeZone: zone ? (isTimeZone(zone) ? zone : 'UTC') : new Intl.DateTimeFormat().resolvedOptions().timeZone,
  }
}

/**
 * Reads the service's environment variables (FIELD-NOTES.md 1.3). Throws StartupFailure if Spring could not bind one.
 */
export function readSettings(environment: Environment, vendor: Vendor): ServiceSettings {
  const names = settingNames(vendor)
  const text = (name: string, otherwise: string): string => environment[name] ?? otherwise
  const number = (name: string, otherwise: number): number => {
    const value = environment[name]
    if (value === undefined || value === '') return otherwise
    if (!/^\d+(\.\d+)?$/.test(value.trim())) throw unbound(name, value, 'java.lang.Integer')
    return Number(value)
  }
  const duration = (name: string, otherwise: string): number => {
    const value = text(name, otherwise)
    return parseDuration(value) ?? fail(unbound(name, value, 'java.time.Duration'))
  }
  const url = text(springSettings.datasourceUrl, '')
  const durable = text(names.rabbitDurable, String(settingDefaults.rabbitDurable))
  return {
    database: {
      ...(parseJdbcUrl(url) ?? fail(noDatabase(url))),
      user: text(springSettings.datasourceUsername, ''),
      password: new Secret(text(springSettings.datasourcePassword, '')),
      connectionTimeoutMs: number(springSettings.hikariConnectionTimeout, 30_000),
    },
    liquibase: {
      waitMs: number(springSettings.liquibaseLockWaitMinutes, changelogLock.waitMinutes) * 60_000,
      pollMs: number(springSettings.liquibaseLockPollSeconds, changelogLock.pollSeconds) * 1000,
    },
    broker: {
      ...brokerAddress(environment, number),
      durable: parseBoolean(durable) ?? fail(unbound(names.rabbitDurable, durable, 'boolean')),
    },
    redis: {
      host: text(springSettings.redisHost, 'localhost'),
      port: number(springSettings.redisPort, 6379),
      database: number(springSettings.redisDatabase, 0),
      password: environment[springSettings.redisPassword]
        ? new Secret(environment[springSettings.redisPassword]!)
        : null,
    },
    sessions: {
      namespace: environment[names.redisNamespace] || 'spring:session',
      indexed: text(springSettings.sessionRepositoryType, 'default').toLowerCase() === 'indexed',
      maxInactiveSeconds: Math.round(duration(names.redisSessionTtl, '30m') / 1000),
    },
    tokenSeconds: number(names.tokenValiditySeconds, settingDefaults.tokenValiditySeconds),
    jwtSecret: environment[`${vendor.prefix}_JWT_SECRET`]
      ? new Secret(environment[`${vendor.prefix}_JWT_SECRET`]!)
      : null,
    address: text(springSettings.serverAddress, '127.0.0.1'),
    port: number(springSettings.serverPort, 8080),
    timeZone: readLogSettings(environment).timeZone,
  }
}

function brokerAddress(
  environment: Environment,
  number: (name: string, otherwise: number) => number,
): Omit<ServiceSettings['broker'], 'durable'> {
  const given = {
    host: environment[springSettings.rabbitHost] ?? 'localhost',
    port: number(springSettings.rabbitPort, 5672),
    vhost: environment[springSettings.rabbitVirtualHost] || '/',
    user: environment[springSettings.rabbitUsername] ?? 'guest',
    password: new Secret(environment[springSettings.rabbitPassword] ?? 'guest'),
  }
  const [address] = (environment[springSettings.rabbitAddresses] ?? '').split(',').filter(Boolean)
  if (!address) return given
  const url = new URL(address.includes('://') ? address.trim() : `amqp://${address.trim()}`)
  const path = decodeURIComponent(url.pathname.slice(1))
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || 5672),
    vhost: path || given.vhost,
    user: url.username ? decodeURIComponent(url.username) : given.user,
    password: url.password ? new Secret(decodeURIComponent(url.password)) : given.password,
  }
}

function fail(failure: StartupFailure): never {
  throw failure
}

function unbound(name: string, value: string, type: string): StartupFailure {
  const property = name.toLowerCase().replaceAll('_', '.')
  return new StartupFailure(
    'configurationProperties',
    throwable(
      'org.springframework.boot.context.properties.bind.BindException',
      `Failed to bind properties under '${property}' to ${type}`,
      [],
    ),
    {
      description: [
        `Failed to bind properties under '${property}' to ${type}:`,
        '',
        `    Property: ${property}`,
        `    Value: "${value}"`,
        `    Origin: System Environment Property "${name}"`,
        `    Reason: failed to convert java.lang.String to ${type}`,
      ].join('\n'),
      action: "Update your application's configuration",
    },
  )
}

function noDatabase(url: string): StartupFailure {
  const reason = url
    ? `Driver org.postgresql.Driver claims to not accept jdbcUrl, ${url.replace(/\?[^]*/, '')}`
    : "'url' attribute is not specified and no embedded datasource could be configured."
  return new StartupFailure(
    'dataSource',
    throwable('java.lang.RuntimeException', reason, [
      'com.zaxxer.hikari.util.DriverDataSource.<init>(DriverDataSource.java:110)',
    ]),
    {
      description: `Failed to configure a DataSource: ${reason}`,
      action: `Set ${springSettings.datasourceUrl}.`,
    },
  )
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/**
 * Reads a duration like Spring Boot: `10d`, `30m`, `PT1H`, `3600` (seconds without a unit). Returns milliseconds, or
 * null.
 */
export function parseDuration(text: string): number | null {
  const simple = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)?$/i.exec(text.trim())
  if (simple) return Number(simple[1]) * units[(simple[2] ?? 's').toLowerCase()]!
  const iso = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/i.exec(text.trim())
  if (!iso || iso.slice(1).every((part) => part === undefined)) return null
  const [days, hours, minutes, seconds] = iso.slice(1).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
  ]
  return days * units['d']! + hours * units['h']! + minutes * units['m']! + seconds * units['s']!
}
