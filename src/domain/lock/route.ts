import type { DatabaseIdentity, DatabaseSource } from '../../core/sources.ts'
import type { DatabaseRoute, DatabaseUse, JdbcAddress } from '../../knowledge/database.ts'
import { isSameHost } from '../../knowledge/lock.ts'

/** What stands between the service and a database. */
export interface Between {
  /** What pools connections, for people; null if no pooler is known */
  pooler: string | null
  /** Why a pooler cannot be ruled out, for people; null if it can, or if one is known */
  doubt: string | null
}

/** How the service is known to reach its databases. */
export interface KnownUse {
  /** Null if its settings cannot be read */
  use: DatabaseUse | null
  /** Names of the machine that the service shares with this program, besides `localhost`; null if it is elsewhere */
  here: readonly string[] | null
}

type Reached = Pick<DatabaseSource, 'target' | 'alsoAt'>

/**
 * Judges whether PgBouncer or the like stands between the service and that database. Nothing does if the service's own
 * settings lead to the address by which this program reaches PostgreSQL itself. `ports`: of the server.
 */
export function betweenIt(
  database: Reached,
  identity: DatabaseIdentity,
  ports: readonly number[],
  known: KnownUse,
): Between {
  if (identity.pooled) return { pooler: 'a pooler (PgBouncer or the like) in front of the database', doubt: null }
  const { use } = known
  if (use === null) return { pooler: null, doubt: doubtOf("the service's settings cannot be read") }
  const all = routesTo(database, use).map((route) => alongRoute(route, database, ports, known))
  const [first] = all
  if (first === undefined)
    return { pooler: null, doubt: doubtOf("none of the service's settings points to this database") }
  // each of several routes may be the holder's
  return all.find(({ pooler }) => pooler !== null) ?? all.find(({ doubt }) => doubt !== null) ?? first
}

function doubtOf(why: string): string {
  return (
    `cannot tell how the service connects to this database (${why}). There may be a pooler in between, which ` +
    'shares sessions between clients'
  )
}

/** Returns Liquibase's own route if it may lead to this database, otherwise every route that does. */
function routesTo(database: Reached, { main, liquibase, routes }: DatabaseUse): readonly DatabaseRoute[] {
  const name = placesOf(database)[0]?.database
  const mayLead = ({ address }: DatabaseRoute): boolean =>
    address === null || address.database === null || address.database === name
  const own = liquibase ?? main
  return mayLead(own) ? [own] : routes.filter((route) => route.address !== null && mayLead(route))
}

function alongRoute(
  { address, shown }: DatabaseRoute,
  database: Reached,
  ports: readonly number[],
  known: KnownUse,
): Between {
  if (address === null) return { pooler: null, doubt: doubtOf(shown) }
  const isSuspect = ({ host, port }: JdbcAddress['hosts'][number]): boolean =>
    !ports.includes(port) || /bounce|pool|proxy|odyssey|pgcat|supavisor/i.test(host)
  const suspect = address.hosts.find(isSuspect)
  if (suspect) {
    const where = shown === textOf(address) ? `the server at ${suspect.host}:${suspect.port}` : shown
    return { pooler: `${where} (in the service's settings) may be a pooler that`, doubt: null }
  }
  const places = placesOf(database)
  const isKnown = address.hosts.every(({ host }) => places.some((place) => isSamePlace(place.host, host, known)))
  if (isKnown) return { pooler: null, doubt: null }
  return {
    pooler: null,
    doubt:
      `the service connects to this database at ${shown}, not at ${database.target}. There may be a pooler in ` +
      'between, which shares sessions between clients',
  }
}

/** Formats an address as `DatabaseRoute.shown` does. */
function textOf({ hosts }: JdbcAddress): string {
  return hosts.map(({ host, port }) => `${host}:${port}`).join(',')
}

/** True if an address of the service's leads to that database, as far as their names show. */
export function leadsTo(address: JdbcAddress, database: Reached, known: KnownUse): boolean {
  const places = placesOf(database)
  return (
    address.hosts.some(({ host, port }) =>
      places.some((place) => place.port === port && isSamePlace(place.host, host, known)),
    ) &&
    (address.database === null || address.database === places[0]?.database)
  )
}

/** True if two addresses of the service's lead to one database, as far as their names show. */
export function isSameDatabase(one: JdbcAddress, other: JdbcAddress): boolean {
  const isIn = ({ host, port }: JdbcAddress['hosts'][number], { hosts }: JdbcAddress): boolean =>
    hosts.some((it) => it.port === port && isSameHost(it.host, host))
  return (
    one.database === other.database &&
    one.hosts.every((it) => isIn(it, other)) &&
    other.hosts.every((it) => isIn(it, one))
  )
}

function isSamePlace(one: string, other: string, { here }: KnownUse): boolean {
  if (isSameHost(one, other)) return true
  const isHere = (host: string): boolean =>
    /^(?:localhost(?:\.localdomain)?|127(?:\.\d{1,3}){3}|::1)$/i.test(host) ||
    here!.some((name) => isSameHost(name, host))
  return here !== null && isHere(one) && isHere(other)
}

interface Place {
  host: string
  port: number
  database: string
}

/** Parses all addresses of a database, which are host:port/database as in `DatabaseSource`. */
function placesOf({ target, alsoAt }: Reached): readonly Place[] {
  return [target, ...alsoAt].flatMap((text) => {
    const found = /^\[?([^\]/]{0,255}?)\]?:(\d{1,5})\/(.*)$/s.exec(text)
    return found ? [{ host: found[1]!, port: Number(found[2]), database: found[3]! }] : []
  })
}
