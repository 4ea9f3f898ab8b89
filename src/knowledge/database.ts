import { jvmOptions, systemProperty } from './jvm.ts'
import { datasourcePrefixes } from './settings.ts'

/** How the service reaches a database, as its settings say. */
export interface DatabaseRoute {
  /** Null if it is not set, may not be read, or cannot be understood */
  address: JdbcAddress | null
  /** For people, without secrets */
  shown: string
}

/**
 * Where and as whom the service uses PostgreSQL (FIELD-NOTES.md 1.3). Its Liquibase uses the main data source, unless
 * `spring.liquibase.url` or `spring.liquibase.user` say otherwise (Spring Boot, LiquibaseAutoConfiguration).
 */
export interface DatabaseUse {
  main: DatabaseRoute
  /** Route of Liquibase alone; null if it uses the main data source */
  liquibase: DatabaseRoute | null
  /** Routes of all data sources that are set, Liquibase's own last */
  routes: readonly DatabaseRoute[]
  /** The user that Liquibase signs in as; null if unknown */
  user: string | null
  /** The users of all data sources; null unless all are known */
  users: readonly string[] | null
}

/** A setting as it is known. */
interface KnownSetting {
  /** Null if it may not be read */
  value: string | null
  isSecret: boolean
}

/** Returns a setting; undefined if it is not set. */
export type SettingLookup = (name: string) => KnownSetting | undefined

/** Reads the service's settings. `isPartial`: more may be set than is seen. */
export function databaseUse(lookup: SettingLookup, { isPartial }: { isPartial: boolean }): DatabaseUse {
  const find = finder(lookup)
  const sources = datasourcePrefixes.flatMap((prefix, index) => {
    const found = { url: find(urlOf(prefix)), user: find(userOf(prefix)) }
    return index === 0 || found.url || found.user ? [{ ...found, route: routeOf(found.url, `${prefix}_URL`) }] : []
  })
  const [main] = sources
  const own = { url: find(liquibaseUrl), user: find(liquibaseUser) }
  const liquibase = own.url === undefined ? null : routeOf(own.url, 'SPRING_LIQUIBASE_URL')
  const signsIn = ({ url, user }: Found): string | null =>
    user ? user.value : ((url && routeOf(url, '').address?.user) ?? null)
  const users = [
    ...sources.filter(({ url, user }) => url || user).map(signsIn),
    ...(own.url || own.user ? [signsIn(own)] : []),
  ]
  // Spring's JSON takes precedence over the variables
  const isUnsure =
    isPartial ||
    jvmOptions.some((name) => lookup(name)?.value === null) ||
    /datasource|liquibase/i.test(lookup('SPRING_APPLICATION_JSON')?.value ?? '')
  return {
    main: isUnsure ? { ...main!.route, address: null } : main!.route,
    liquibase: liquibase && isUnsure ? { ...liquibase, address: null } : liquibase,
    routes: [...sources.filter(({ url }) => url).map(({ route }) => route), ...(liquibase ? [liquibase] : [])],
    user: own.url || own.user ? signsIn(own) : signsIn(main!),
    users: isUnsure || users.length === 0 || users.includes(null) ? null : users.filter((user) => user !== null),
  }
}

interface Found {
  url: (KnownSetting & { name: string }) | undefined
  user: (KnownSetting & { name: string }) | undefined
}

/** The strongest first; a name with dots is a property of Spring's, read from the JVM's options. */
const liquibaseUrl = ['spring.liquibase.url', 'SPRING_LIQUIBASE_URL']
const liquibaseUser = ['spring.liquibase.user', 'SPRING_LIQUIBASE_USER']

function urlOf(prefix: string): string[] {
  const property = prefix.toLowerCase().replaceAll('_', '.')
  return [
    `${property}.hikari.jdbc-url`,
    `${prefix}_HIKARI_JDBC_URL`,
    `${prefix}_HIKARI_JDBCURL`,
    `${property}.url`,
    `${property}.jdbc-url`,
    `${prefix}_URL`,
    `${prefix}_JDBC_URL`,
    `${prefix}_JDBCURL`,
  ]
}

function userOf(prefix: string): string[] {
  const property = prefix.toLowerCase().replaceAll('_', '.')
  return [`${property}.hikari.username`, `${prefix}_HIKARI_USERNAME`, `${property}.username`, `${prefix}_USERNAME`]
}

function finder(lookup: SettingLookup): (names: readonly string[]) => (KnownSetting & { name: string }) | undefined {
  const clear = (name: string): string | undefined => lookup(name)?.value ?? undefined
  return (names) => {
    for (const name of names) {
      if (name.includes('.')) {
        const value = systemProperty(name, clear)
        // options contain other things too, which nobody may see
        if (value !== undefined) return { name: `-D${name}`, value, isSecret: true }
      } else {
        const found = lookup(name)
        if (found !== undefined && found.value !== '') return { name, ...found }
      }
    }
    return undefined
  }
}

function routeOf(found: Found['url'], name: string): DatabaseRoute {
  if (found === undefined) return { address: null, shown: `\`${name}\` is not set` }
  if (found.value === null) return { address: null, shown: `this user may not read \`${found.name}\`` }
  const address = parseJdbcAddress(found.value)
  if (address === null) return { address, shown: `cannot find a host in \`${found.name}\`` }
  const hosts = address.hosts.map(({ host, port }) => `${host}:${port}`).join(',')
  return { address, shown: found.isSecret ? `the address in ${found.name}` : hosts }
}

/** Where an address of pgjdbc leads, and as whom (FIELD-NOTES.md 1.3; pgjdbc, "Connecting to the Database"). */
export interface JdbcAddress {
  hosts: readonly { host: string; port: number }[]
  /** Null if it names none, so that PostgreSQL takes the user's name */
  database: string | null
  user: string | null
}

const defaultPort = 5432
const here = [{ host: 'localhost', port: defaultPort }]
/** Maximum characters; an address of some hosts is shorter */
const mostCharacters = 4000
/** Parameters that lead elsewhere than the address itself says */
const detours = ['pghost', 'pgport', 'pgdbname', 'service', 'socketfactory']

/**
 * Parses `jdbc:postgresql://h1:p,h2:p/db?…`, also with a driver that wraps pgjdbc. Null if it is not of PostgreSQL, or
 * leads where it does not say.
 */
export function parseJdbcAddress(text: string): JdbcAddress | null {
  const plain = text.trim()
  if (plain.length > mostCharacters) return null
  const begin = /^(?:jdbc:(?:[a-z\d-]{1,30}:){0,3})?postgres(?:ql)?:/i.exec(plain)
  if (!begin) return null
  const rest = plain.slice(begin[0].length)
  const [way = '', query = ''] = cut(rest, '?')
  const parameters = new URLSearchParams(query)
  if ([...parameters.keys()].some((name) => detours.includes(name.toLowerCase()))) return null
  const [authority = '', path = ''] = way.startsWith('//') ? cut(way.slice(2), '/') : ['', way.replace(/^\//, '')]
  const hosts = hostsIn(authority.slice(authority.lastIndexOf('@') + 1))
  if (hosts === null) return null
  const signedIn = authority.includes('@') ? decoded(authority.slice(0, authority.lastIndexOf('@')).split(':')[0]!) : ''
  return { hosts, database: decoded(path) || null, user: parameters.get('user') || signedIn || null }
}

function hostsIn(text: string): JdbcAddress['hosts'] | null {
  if (text === '') return here
  const hosts: { host: string; port: number }[] = []
  for (const one of text.split(',')) {
    const found = /^(?:\[([\da-fA-F:.%]{2,100})\]|([^:[\]/\s]{0,255}))(?::(\d{1,5}))?$/.exec(one.trim())
    if (!found) return null
    hosts.push({
      host: (found[1] ?? found[2]) || 'localhost',
      port: found[3] === undefined ? defaultPort : Number(found[3]),
    })
  }
  return hosts
}

function cut(text: string, sign: string): [string, string] {
  const at = text.indexOf(sign)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * Where the service's own settings make its Liquibase look (FIELD-NOTES.md 2, "Spring Boot's settings of Liquibase").
 */
export interface LiquibaseSettings {
  /** Name of the lock table; null for the usual one */
  table: string | null
  /** Schema of Liquibase's own tables; null for the connection's */
  schema: string | null
  /**
   * Schemas of the connection, as `currentSchema` of the JDBC address names them; null for PostgreSQL's setting of the
   * user
   */
  searchPath: readonly string[] | null
  /** `NAME=value` of each setting that says so */
  shown: readonly string[]
}

/** Spring's own settings, then Liquibase's; each by its variables, and by its options of the JVM. */
const ways = {
  table: [
    {
      variables: ['SPRING_LIQUIBASE_DATABASE_CHANGE_LOG_LOCK_TABLE', 'SPRING_LIQUIBASE_DATABASECHANGELOGLOCKTABLE'],
      option: 'spring.liquibase.database-change-log-lock-table',
    },
    { variables: [], option: 'liquibase.databaseChangeLogLockTableName' },
  ],
  schema: [
    {
      variables: ['SPRING_LIQUIBASE_LIQUIBASE_SCHEMA', 'SPRING_LIQUIBASE_LIQUIBASESCHEMA'],
      option: 'spring.liquibase.liquibase-schema',
    },
    { variables: [], option: 'liquibase.liquibaseSchemaName' },
    {
      variables: ['SPRING_LIQUIBASE_DEFAULT_SCHEMA', 'SPRING_LIQUIBASE_DEFAULTSCHEMA'],
      option: 'spring.liquibase.default-schema',
    },
  ],
} as const

/** Reads the settings of Liquibase. `valueOf`: returns the value of a setting, undefined if it is not set. */
export function liquibaseSettings(valueOf: (name: string) => string | undefined): LiquibaseSettings {
  const [table, schema] = [found(ways.table, valueOf), found(ways.schema, valueOf)]
  const address = /[?&]currentSchema=([^&\s]{1,500})/.exec(
    valueOf('SPRING_LIQUIBASE_URL') || valueOf('SPRING_DATASOURCE_URL') || '',
  )?.[1]
  const searchPath =
    address === undefined
      ? null
      : decoded(address)
          .split(',')
          .map((one) => one.trim().replace(/^"(.*)"$/, '$1'))
  return {
    table: table?.value ?? null,
    schema: schema?.value ?? null,
    searchPath,
    shown: [
      ...[schema, table].flatMap((it) => it?.shown ?? []),
      ...(schema === null && address !== undefined ? [`currentSchema=${address}`] : []),
    ],
  }
}

function found(
  all: readonly { variables: readonly string[]; option: string }[],
  valueOf: (name: string) => string | undefined,
): { value: string; shown: string } | null {
  for (const { variables, option } of all) {
    // a system property takes precedence over an environment variable
    const given = systemProperty(option, valueOf)
    if (given !== undefined) return { value: given, shown: `-D${option}=${given}` }
    const name = variables.find((it) => (valueOf(it) ?? '') !== '')
    if (name !== undefined) return { value: valueOf(name)!, shown: `${name}=${valueOf(name)!}` }
  }
  return null
}
