import type { Agent, RequestOptions, request as requestOf } from 'node:http'
import { env } from 'node:process'
import { getProxyForUrl } from 'proxy-from-env'
import type { HostPort } from '../core/endpoint.ts'
import { AdminError } from '../core/error.ts'
import { isLoopback } from '../core/host.ts'
import { hostPort } from './failure.ts'
import type { Peer } from './failure.ts'
import { tlsOptions } from './tls.ts'
import type { TlsOptions, Trust } from './tls.ts'

/** How requests to one server travel. */
export interface Route {
  agent: Agent
  request: typeof requestOf
  /** TLS options that every request needs */
  tls: TlsOptions
  /** address to connect to, if it is not the server's own */
  place: Pick<RequestOptions, 'host' | 'hostname' | 'port'>
  /** without its user and password; null if requests go directly */
  proxy: Proxy | null
}

interface Proxy {
  host: string
  port: number
}

/**
 * Opens a route that keeps its connections, through the proxy that the environment names for this address (HTTP_PROXY,
 * HTTPS_PROXY, ALL_PROXY, NO_PROXY). Connects directly to this machine, or to `way` if given, whatever they say. Throws
 * CONFIGURATION for an unusable proxy.
 */
export async function openRoute(url: URL, trust: Trust, way: HostPort | null): Promise<Route> {
  const tls = tlsOptions(bare(url.hostname), trust)
  const place = way === null ? {} : { host: way.host, hostname: way.host, port: way.port }
  const proxy = way === null ? proxyOf(url) : null
  return {
    ...(await keptConnections(url, proxy, way === null ? undefined : mostForwarded)),
    tls,
    place,
    proxy: proxy && { host: bare(proxy.hostname), port: portOf(proxy) },
  }
}

/** Each connection that a cluster forwards takes a request to its API server. */
const mostForwarded = 3

/**
 * Returns what makes requests to an address and keeps their connections, `most` at a time, through the proxy if one is
 * given.
 */
export async function keptConnections(
  url: URL,
  proxy: URL | null,
  most?: number,
): Promise<Pick<Route, 'agent' | 'request'>> {
  const { Agent, request } = await (url.protocol === 'https:' ? import('node:https') : import('node:http'))
  const kept = { keepAlive: true, ...(most !== undefined && { maxSockets: most }) }
  return { agent: proxy === null ? new Agent(kept) : await proxyAgent(url, proxy), request }
}

/** Returns the proxy for requests to this address; null if there is none. Throws CONFIGURATION. */
export function proxyOf(url: URL): URL | null {
  const named = isLoopback(url.hostname) ? '' : proxyFor(url)
  return named === '' ? null : parseProxy(named)
}

/** Returns the error for a proxy that refuses a request. The server behind it has not answered. */
export function proxyRefusal({ host, port }: Proxy, status: number, peer: Peer): AdminError {
  const why = status === 407 ? '407: it requires a user name and a password' : status
  return new AdminError(
    'UNREACHABLE',
    `the proxy ${hostPort(host, port)} refuses to connect to ${hostPort(peer.host, peer.port)} (HTTP ${why})`,
    [lookUp],
    { obstacle: { kind: 'proxy', host, port } },
  )
}

const lookUp = 'env | cut -d= -f1 | grep -i proxy   # lists the variables that set the proxy'

/** Returns the proxy that the environment names; '' if none. Without a scheme it is an http proxy, as for curl. */
export function proxyFor(url: URL): string {
  const named = getProxyForUrl(url.href)
  const bareName = named.slice(url.protocol.length + '//'.length)
  return named !== '' && Object.values(env).includes(bareName) ? `http://${bareName}` : named
}

/** Returns the port of an address, or the default port if it names none. */
export function portOf(url: URL): number {
  return Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
}

/** Returns a host name without the brackets of IPv6. */
export function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '')
}

async function proxyAgent(url: URL, proxy: URL): Promise<Agent> {
  if (url.protocol === 'https:') {
    const { HttpsProxyAgent } = await import('https-proxy-agent')
    return new HttpsProxyAgent(proxy, { keepAlive: true })
  }
  const { HttpProxyAgent } = await import('http-proxy-agent')
  return new HttpProxyAgent(proxy, { keepAlive: true })
}

export function parseProxy(named: string): URL {
  const proxy = URL.canParse(named) ? new URL(named) : null
  const isHttp = proxy?.protocol === 'http:' || proxy?.protocol === 'https:'
  if (proxy && isHttp && proxy.hostname !== '' && isEncoded(proxy.username + proxy.password)) return proxy
  // the address may hold a password, so it is not shown
  throw new AdminError(
    'CONFIGURATION',
    isHttp
      ? 'the proxy address in the environment has a stray % in the user name or password. Write this % as %25'
      : proxy && /^\w+:$/.test(proxy.protocol)
        ? `the environment sets a ${proxy.protocol.slice(0, -1)} proxy, but only http and https proxies are supported`
        : 'the environment sets a proxy with an invalid address',
    [lookUp],
  )
}

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
