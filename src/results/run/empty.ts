import { shownName } from '../read/file-name.ts'
import { namesIn } from '../read/name-blocks.ts'
import { emptyResults } from '../rules/index.ts'
import type { Findings } from './findings.ts'
import type { Gathered } from './gathered.ts'

/** so many names of what is there instead are given */
const mostNames = 10

/** Says of what is there that is no `*-result.json`, and of what of a directory was not looked at. */
export function judgeEmpty({ listing, nested }: Gathered, findings: Findings): void {
  const { directory, state, resultCount, special, specialCount } = listing
  if (resultCount === 0)
    findings.add(
      'empty-results',
      directory,
      '',
      emptyResults({
        kind: state === 'there' ? 'no-results' : state,
        entries: entriesOf(listing),
        childrenWithResults: nested.withResults,
      }),
    )
  for (const { file, message } of [...special, ...nested.outside]) findings.undetermined({ directory, file, message })
  // the rest is only counted: there are more than are kept
  for (let more = specialCount - special.length + nested.outsideCount - nested.outside.length; more > 0; more -= 1)
    findings.undetermined({ directory, file: '', message: '' })
  if (nested.isCut || listing.areFoldersCut)
    findings.undetermined({
      directory,
      file: '',
      message:
        'holds child directories that could not be looked through: too many, too deep, not for this user, or with names that are not UTF-8',
    })
}

function entriesOf({ folders, known, special, containers, attachments }: Gathered['listing']): string[] {
  const files = [...containers.slice(0, 1), ...attachments.slice(0, 1)].flatMap((block) =>
    namesIn(block).map(shownName),
  )
  return [...folders.map((it) => `${it}/`), ...files, ...known, ...special.map(({ file }) => file)]
    .sort()
    .slice(0, mostNames)
}
