import type { HostPort } from '../../core/endpoint.ts'
import { parseAddress } from './addresses.ts'

export interface SessionsAddress extends HostPort {
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
  if (!/^\d*\/?$/.test(path)) throw new Error('has a database that is not a number')
  return { ...host, encrypted: scheme === 'rediss', database: Number.parseInt(path || '0', 10), user, password }
}
