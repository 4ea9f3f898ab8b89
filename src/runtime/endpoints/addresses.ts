import type { HostPort, Tls } from '../../core/endpoint.ts'
import { own } from '../../core/lookup.ts'

/**
 * Parsers for the addresses that a configuration or the service's own settings hold. Each throws a plain `Error` that
 * says in a few words what is wrong. It never repeats the address, because an invalid one may hold a password.
 */

/** Parses `host:port`, `[ipv6]:port` or a host alone. */
export function parseHostPort(address: string, defaultPort: number): HostPort {
  const parts = /^(?:\[([0-9a-fA-F:.%\w]+)\]|([^\s:/@[\]?#]+))(?::(\d{1,5}))?$/.exec(address.trim())
  const host = parts?.[1] ?? parts?.[2]
  const port = parts?.[3] === undefined ? defaultPort : Number(parts[3])
  if (!host) throw new Error('is not host:port')
  if (port < 1 || port > 65_535) throw new Error('has a port outside 1 to 65535')
  return { host, port }
}

/** Parses `h1:p1,h2:p2`, as JDBC addresses and Spring's settings list hosts. */
export function parseHostPorts(addresses: string, defaultPort: number): [HostPort, ...HostPort[]] {
  const [first, ...others] = addresses
    .split(',')
    .filter((part) => part.trim() !== '')
    .map((part) => parseHostPort(part, defaultPort))
  if (!first) throw new Error('names no host')
  return [first, ...others]
}

interface Address {
  scheme: string
  user: string | null
  password: string | null
  hosts: readonly HostPort[]
  /** Without its first slash, not decoded */
  path: string
  query: URLSearchParams
}

/** Parses `scheme://user:password@host:port,host:port/path?query`. */
export function parseAddress(address: string, defaultPorts: Readonly<Record<string, number>>): Address {
  const schemes = Object.keys(defaultPorts)
  const parts = /^([a-z][a-z0-9+.-]*):\/\/(?:([^/?#]*)@)?([^/?#@]*)(?:\/([^?#]*))?(?:\?([^#]*))?(?:#.*)?$/is.exec(
    address.trim(),
  )
  const scheme = parts?.[1]?.toLowerCase() ?? ''
  const defaultPort = own(defaultPorts, scheme)
  if (!parts || defaultPort === undefined)
    throw new Error(`must begin with ${schemes.map((name) => `${name}://`).join(' or ')}`)
  const [, , credentials, hosts, path, query] = parts
  const colon = credentials?.indexOf(':') ?? -1
  return {
    scheme,
    user: credentials ? decode(colon < 0 ? credentials : credentials.slice(0, colon)) || null : null,
    password: credentials && colon >= 0 ? decode(credentials.slice(colon + 1)) : null,
    hosts: parseHostPorts(hosts ?? '', defaultPort),
    path: path ?? '',
    query: new URLSearchParams(query ?? ''),
  }
}

/** Undoes percent encoding; returns text with invalid encoding unchanged. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

export function parsePort(value: string): number {
  const port = Number(value)
  if (!/^\s*\d+\s*$/.test(value) || port < 1 || port > 65_535) throw new Error('is not a port')
  return port
}

/** Checks an HTTP address, which may have a path, and returns it without a trailing slash. */
export function parseHttpAddress(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : null
  if (!url && /^https?:\/\/[^/]/i.test(address.trim())) throw new Error('has an invalid host or port')
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new Error(`must begin with http:// or https://${likely(address)}`)
  if (url.username || url.password) throw new Error('contains credentials; leave them out')
  if (url.search || url.hash) throw new Error('has a query or a fragment; leave it out')
  return url.href.replace(/(?<!\/)\/+$/, '')
}

/**
 * Suggests what an address without a scheme may mean, such as `testops.example.org`, `//host`, `localhost:8080`,
 * `https:/host`; otherwise empty.
 */
function likely(address: string): string {
  const [, scheme = 'https', rest = ''] =
    /^(?:(https?):)?\/{0,2}([^\s/@:]+(?::\d+)?(?:\/[^\s@?#]*)?)$/i.exec(address.trim()) ?? []
  const meant = `${scheme.toLowerCase()}://${rest}`
  return rest !== '' && URL.canParse(meant) ? `, most likely ${meant}` : ''
}

export interface BrokerAddress extends HostPort {
  encrypted: boolean
  /** Null if the address names none */
  vhost: string | null
  user: string | null
  password: string | null
}

/** Reads `amqp://` and `amqps://` addresses; without a path, or with an empty one, they name no virtual host. */
export function parseBrokerAddress(address: string): BrokerAddress {
  const { scheme, user, password, hosts, path } = parseAddress(address, { amqp: 5672, amqps: 5671 })
  const [host] = hosts
  if (!host || hosts.length > 1) throw new Error('names several hosts; name one')
  return { ...host, encrypted: scheme === 'amqps', vhost: path === '' ? null : decode(path), user, password }
}

/**
 * Reads the first of Spring's addresses, each `amqp://user:password@host:port/vhost` or `host:port` (FIELD-NOTES.md
 * 1.3).
 */
export function parseSpringBrokerAddresses(addresses: string, encrypted: boolean): BrokerAddress {
  const first = addresses.split(',')[0]?.trim() ?? ''
  if (/^amqps?:\/\//i.test(first)) {
    const parsed = parseBrokerAddress(first)
    return { ...parsed, encrypted: parsed.encrypted || encrypted }
  }
  return { ...parseHostPort(first, encrypted ? 5671 : 5672), encrypted, vhost: null, user: null, password: null }
}

interface SessionsAddress extends HostPort {
  encrypted: boolean
  database: number
  user: string | null
  password: string | null
}

/** Reads `redis://` and `rediss://` addresses. */
export function parseSessionsAddress(address: string): SessionsAddress {
  const { scheme, user, password, hosts, path } = parseAddress(address, { redis: 6379, rediss: 6379 })
  const [host] = hosts
  if (!host || hosts.length > 1) throw new Error('names several hosts; use sentinel or cluster')
  if (!/^\d*\/?$/.test(path)) throw new Error('has a database index that is not a number')
  return { ...host, encrypted: scheme === 'rediss', database: Number.parseInt(path || '0', 10), user, password }
}

export interface DatabaseAddress {
  hosts: readonly HostPort[]
  database: string
  user: string | null
  password: string | null
  tlsMode: Tls['mode']
  /** PEM file that the address itself names (`sslrootcert`) */
  caFile: string | null
  schema: string | null
}

const defaultPorts = { postgresql: 5432, postgres: 5432 }
const local = [{ host: 'localhost', port: 5432 }] as const

/** Reads `postgresql://…` and pgjdbc's `jdbc:postgresql:…`, with several hosts and parameters (FIELD-NOTES.md 1.3). */
export function parseDatabaseAddress(address: string): DatabaseAddress {
  const plain = address.trim().replace(/^jdbc:/i, '')
  // pgjdbc's short forms: the server is on this machine
  const short = /^postgres(?:ql)?:(?:\/\/\/|\/)?([^/?]+)(\?.*)?$/i.exec(plain)
  const parsed = short
    ? { user: null, password: null, hosts: local, path: short[1] ?? '', query: new URLSearchParams(short[2] ?? '') }
    : parseAddress(plain, defaultPorts)
  const { query } = parsed
  const user = parsed.user ?? query.get('user')
  const database = decode(parsed.path.replace(/\/$/, '')) || user
  if (!database) throw new Error('names no database')
  return {
    hosts: parsed.hosts,
    database,
    user,
    password: parsed.password ?? query.get('password'),
    tlsMode: tlsMode(query),
    caFile: query.get('sslrootcert'),
    schema:
      query
        .get('currentSchema')
        ?.split(',')[0]
        ?.trim()
        .replace(/^"(.*)"$/, '$1') || null,
  }
}

/** Returns pgjdbc's mode: `prefer` by default, `ssl=true` alone is verify-full, NonValidatingFactory encrypts only. */
function tlsMode(query: URLSearchParams): Tls['mode'] {
  const mode = query.get('sslmode')?.toLowerCase() ?? impliedMode(query)
  if (mode === 'disable' || mode === 'require') return mode
  if (mode === 'prefer' || mode === 'allow') return 'prefer'
  if (mode !== 'verify-ca' && mode !== 'verify-full') throw new Error('has an unknown sslmode')
  return query.get('sslfactory')?.endsWith('NonValidatingFactory') ? 'require' : 'verify'
}

function impliedMode(query: URLSearchParams): string {
  return query.has('ssl') && query.get('ssl') !== 'false' ? 'verify-full' : 'prefer'
}
