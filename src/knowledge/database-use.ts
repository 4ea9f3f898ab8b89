import { parseJdbcAddress } from './jdbc-address.ts'
import type { JdbcAddress } from './jdbc-address.ts'
import { jvmOptions, systemProperty } from './jvm-options.ts'
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
  if (found === undefined) return { address: null, shown: `${name} is not among its settings` }
  if (found.value === null) return { address: null, shown: `${found.name} may not be read` }
  const address = parseJdbcAddress(found.value)
  if (address === null) return { address, shown: `${found.name} names no host that is understood` }
  const hosts = address.hosts.map(({ host, port }) => `${host}:${port}`).join(',')
  return { address, shown: found.isSecret ? `the address in ${found.name}` : hosts }
}
