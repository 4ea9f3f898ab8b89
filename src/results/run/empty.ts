import { shownName } from '../read/file-name.ts'
import { namesIn } from '../read/name-blocks.ts'
import { emptyResults } from '../rules/index.ts'
import type { Findings } from './findings.ts'
import type { Gathered } from './gathered.ts'

/** so many names of what is there instead are given */
const mostNames = 10

/** Says of what is there that is no `*-result.json`, and of what of a directory was not looked at. */
export function judgeEmpty({ listing, nested }: Gathered, findings: Findings): void {
  const { directory, state, resultCount, special } = listing
  if (resultCount === 0) findings.add('empty-results', directory, '', emptyResults({ kind: state === 'there' ? 'no-results' : state, entries: entriesOf(listing), childrenWithResults: nested.withResults }))
  for (const file of special) findings.undetermined({ directory, file, message: 'is neither a file nor a directory, and was not opened' })
  if (nested.isCut || listing.areFoldersCut) findings.undetermined({ directory, file: '', message: 'holds child directories that could not be looked through: too many, too deep, not for this user, or with names that are not UTF-8' })
}

function entriesOf({ folders, known, special, containers, attachments }: Gathered['listing']): string[] {
  const files = [...containers.slice(0, 1), ...attachments.slice(0, 1)].flatMap((block) => namesIn(block).map(shownName))
  return [...folders.map((it) => `${it}/`), ...files, ...known, ...special].sort().slice(0, mostNames)
}
