import type { LogRecord, ServiceSource } from '../../core/sources.ts'
import { loggedCalls, unknownHosts } from '../../knowledge/log-signatures.ts'
import { springSettings } from '../../knowledge/settings.ts'
import { tolerant } from '../wanted.ts'

/** Maximum number of addresses checked */
const most = 20

/**
 * Returns the addresses of the external systems in the log, one for each host: that of the last call, otherwise one
 * made from the host. Leaves out the service's own parts.
 */
export function addressesInLog(records: readonly LogRecord[], own: ReadonlySet<string>): string[] {
  const unknown = records
    .flatMap(({ text }) => unknownHosts(text))
    .map((host) => [host, `https://${host.includes(':') ? `[${host}]` : host}/`] as const)
  const called = loggedCalls(records).flatMap(({ host, url }) =>
    host === null ? [] : [[host, url ?? `https://${host}/`] as const],
  )
  const byHost = new Map(
    [...unknown, ...called].filter(([, url]) => URL.canParse(url)).map(([host, url]) => [withoutPort(host), url]),
  )
  return [...byHost]
    .filter(([host]) => !own.has(host))
    .map(([, url]) => url)
    .slice(0, most)
}

/** Removes the port. An IPv6 address, which is full of colons, has a port only if it is in brackets. */
function withoutPort(host: string): string {
  if (host.startsWith('[')) return host.slice(1).split(']', 1)[0]!
  return host.includes(':', host.indexOf(':') + 1) ? host : host.replace(/:\d+$/, '')
}

/** Returns the hosts of the service's own parts, which have checks of their own. */
export async function ownParts(service: ServiceSource): Promise<ReadonlySet<string>> {
  const environment = await tolerant(service.environment())
  const { datasourceUrl, rabbitAddresses, rabbitHost, redisHost } = springSettings
  const addresses = [datasourceUrl, rabbitAddresses, rabbitHost, redisHost].map((name) => environment?.get(name))
  const texts = addresses.filter((value) => typeof value === 'string')
  return new Set(texts.flatMap((text) => text.toLowerCase().split(/[^a-z0-9._-]+/)))
}
