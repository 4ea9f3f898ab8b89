import type { HostPort } from '../../core/endpoint.ts'
import { decode, parseAddress, parseHostPort } from './addresses.ts'

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
