import { grouped } from '../core/grouped.ts'
import type { TreeAccount } from '../core/repair-document.ts'
import type { Screen } from './screen.ts'
import { countOf, hang, printable } from './text.ts'

const mostFailures = 10

/** What came of the calls of a repair that counts them; no line of others. */
export function accountLines(
  { requested, accepted = 0, skipped = 0, failed = [] }: Partial<TreeAccount>,
  { columns }: Screen,
): string[] {
  if (requested === undefined) return []
  const parts = [
    `${grouped(accepted)} of ${grouped(requested)} ${requested === 1 ? 'call' : 'calls'} accepted`,
    ...(failed.length > 0 ? [`${grouped(failed.length)} failed`] : []),
    ...(skipped > 0 ? [`${grouped(skipped)} without an answer`] : []),
  ]
  const lines = failed
    .slice(0, mostFailures)
    .flatMap(({ project, tree, message }) =>
      hang(
        tree === undefined ? `    project ${project}: ` : `    tree ${project}/${tree}: `,
        printable(message),
        columns,
      ),
    )
  const more = failed.length - mostFailures
  return [`  ${parts.join(', ')}`, ...lines, ...(more > 0 ? [`    and ${countOf(more, 'more failure')}`] : [])]
}
