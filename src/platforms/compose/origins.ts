import type { ServiceOrigin } from '../../core/sources.ts'
import type { Container } from './containers.ts'

/** Addresses of containers that have a network of their own. */
export function originsOf(containers: readonly Container[]): readonly ServiceOrigin[] | null {
  // that of the machine, or of another container, is used by others, too
  if (containers.some(({ networkMode }) => networkMode === 'host' || /^(?:container|service|ns):/.test(networkMode))) return null
  return containers.flatMap(({ name, networks }) => networks.flatMap(({ address }) => (address === '' ? [] : [{ instance: name, address, port: null, to: null }])))
}
