import { AdminError } from './error.ts'
import { sentence } from './shell-command.ts'
import type { ServiceStatus } from './sources.ts'

/**
 * Returns INTERRUPTED: an instance that this program did not start appeared while it keeps the service stopped
 * (DESIGN.md 6.8).
 */
export function startedByOthers({ detail }: Pick<ServiceStatus, 'detail'>): AdminError {
  return new AdminError(
    'INTERRUPTED',
    `something else started the service while this program keeps it stopped: ${detail}`,
    ['see what started it, and keep it from doing so again'],
  )
}

/**
 * Throws REFUSED if something else owns instances of the service: scaling what this program knows would not affect
 * them.
 */
export function refuseOwnedByOthers({ ownedByOthers = [] }: Pick<ServiceStatus, 'ownedByOthers'>): void {
  if (ownedByOthers.length === 0) return
  const owners = ownedByOthers.map(({ name, instances }) => {
    const more = instances.length > mostNamed ? ` and ${instances.length - mostNamed} more` : ''
    return `${name} owns ${instances.length} ${instances.length === 1 ? 'instance' : 'instances'} of the service (${instances.slice(0, mostNamed).join(', ')}${more})`
  })
  throw new AdminError(
    'REFUSED',
    `${owners.join(', and ')}: this program does not stop these, and starts no others beside them`,
    [
      ...ownedByOthers.flatMap(({ proof }) => proof),
      sentence`stop and start the service through what owns its pods (${ownedByOthers.map(({ name }) => name).join(', ')}), as its own documentation says`,
    ],
  )
}

/** Maximum number of instances named per owner */
const mostNamed = 3

/** Returns INTERRUPTED: something else stopped the service again while this program waits until it is up. */
export function stoppedByOthers({ detail }: Pick<ServiceStatus, 'detail'>): AdminError {
  return new AdminError('INTERRUPTED', `something else stopped the service while this program starts it: ${detail}`, [
    'see what stopped it, and keep it from doing so again',
  ])
}
