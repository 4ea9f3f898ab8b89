import type { HostPort } from '../../core/endpoint.ts'
import { own } from '../../core/own.ts'

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

export interface Address {
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
export function decode(part: string): string {
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
