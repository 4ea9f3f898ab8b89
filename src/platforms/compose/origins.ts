import type { ServiceOrigin } from '../../core/sources.ts'
import type { Container } from './containers.ts'
import type { RunningContainer } from './neighbours.ts'

/**
 * Addresses of containers that have a network of their own. `all`: whatever runs on the engine; some may run in the
 * network of another, and somebody may run a program in a container (`docker exec`).
 */
export function originsOf(
  containers: readonly Container[],
  all: readonly RunningContainer[],
): readonly ServiceOrigin[] | null {
  // that of the machine, or of another container, is used by others, too
  if (containers.some(({ networkMode }) => networkMode === 'host' || /^(?:container|service|ns):/.test(networkMode)))
    return null
  return containers.flatMap(({ id, name, networks }) => {
    const isShared = all.some((it) => (it.id === id ? it.runsPrograms : joins(it, { id, name })))
    return networks.flatMap(({ address }) =>
      address === ''
        ? []
        : [{ instance: name, address, port: null, to: null, ...(isShared && { shared: true as const }) }],
    )
  })
}

/** Whether a container uses the network of another. */
function joins({ networkMode }: RunningContainer, { id, name }: Pick<Container, 'id' | 'name'>): boolean {
  const [, other = ''] = /^container:(.+)$/s.exec(networkMode) ?? []
  return (
    other !== '' &&
    (other === name || other.replace(/^\//, '') === name || (/^[0-9a-f]{12,64}$/.test(other) && id.startsWith(other)))
  )
}
