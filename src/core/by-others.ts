import { AdminError } from './error.ts'
import { command, nested, sentence } from './shell-command.ts'
import type { FieldConflict, ReleaseSource, ServiceStatus } from './sources.ts'

/**
 * Returns INTERRUPTED: an instance that this program did not start appeared while it keeps the service stopped
 * (DESIGN.md 6.8).
 */
export function startedByOthers({ detail }: Pick<ServiceStatus, 'detail'>): AdminError {
  return new AdminError(
    'INTERRUPTED',
    `something else started the service while testops-admin was keeping it stopped: ${detail}`,
    ['find out what started the service, and make sure that it does not start the service again'],
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
    return (
      `${name} owns ${instances.length} ${instances.length === 1 ? 'instance' : 'instances'} of the service ` +
      `(${instances.slice(0, mostNamed).join(', ')}${more})`
    )
  })
  throw new AdminError(
    'REFUSED',
    `${owners.join('; ')}. testops-admin cannot stop these instances, and starts no others while they run`,
    [
      ...ownedByOthers.flatMap(({ proof }) => proof),
      sentence`stop and start these pods with the tool that created them; owner:
        ${ownedByOthers.map(({ name }) => name).join(', ')}`,
    ],
  )
}

/** Maximum number of instances named per owner */
const mostNamed = 3

/** Returns INTERRUPTED: something else stopped the service again while this program waits until it is up. */
export function stoppedByOthers({ detail }: Pick<ServiceStatus, 'detail'>): AdminError {
  return new AdminError(
    'INTERRUPTED',
    `something else stopped the service while testops-admin was starting it: ${detail}`,
    ['find out what stopped the service, and make sure that it does not stop the service again'],
  )
}

const mostShown = 5

/** Throws REFUSED if helm would be refused because others own some of the fields. */
export function refuseConflicts(
  release: Pick<ReleaseSource, 'target' | 'helm'>,
  conflicts: readonly FieldConflict[],
  verb: 'upgrade' | 'rollback',
): void {
  if (conflicts.length === 0) return
  const named = conflicts
    .slice(0, mostShown)
    .map(({ object, field, manager }) => `\`${manager}\` owns ${field} of ${object}`)
  const more = conflicts.length - named.length
  throw new AdminError(
    'REFUSED',
    `helm ${verb} would fail at ${release.target}, because the chart sets fields owned by other field managers: ` +
      `${named.join('; ')}${more > 0 ? `; and ${more} more` : ''}. Nothing was changed`,
    [
      ...new Set(conflicts.slice(0, mostShown).map(({ shown }) => shown)),
      'to keep the current values of these fields, write them into the values file',
      command`${nested(release.helm('upgrade'))} CHART -f FILE --force-conflicts   # overwrites these fields with the
        chart's values`,
    ],
  )
}
