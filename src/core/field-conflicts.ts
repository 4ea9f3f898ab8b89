import { AdminError } from './error.ts'
import { command, nested } from './shell-command.ts'
import type { FieldConflict, ReleaseSource } from './sources.ts'

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
    `helm ${verb} would fail at ${release.target}, since the chart sets fields that others own: ${named.join('; ')}${more > 0 ? `; and ${more} more` : ''}. Nothing was changed`,
    [
      ...new Set(conflicts.slice(0, mostShown).map(({ shown }) => shown)),
      'put what they set into the values file, if it should stay',
      command`${nested(release.helm('upgrade'))} CHART -f FILE --force-conflicts   # then sets these fields from the chart anyway`,
    ],
  )
}
