import { paintFor } from './paint.ts'
import type { Screen } from './paint.ts'
import { countOf, hang, pad, widthOf } from './text.ts'

/** What `checks --json` prints. */
export interface ChecksDocument {
  schemaVersion: 1
  checks: readonly {
    id: string
    /** The healthy state */
    title: string
    /** Severities that its problems can have */
    severities: readonly ('error' | 'warning')[]
    /** Sources that it needs */
    reads: readonly string[]
    /** Sources that it uses if they are present */
    wants: readonly string[]
    /** Checks whose problems it causes */
    explains: readonly string[]
  }[]
}

/** Returns the catalogue with an entry for each check: id, healthy state, severities, sources. */
export function checksText({ checks }: ChecksDocument, screen: Screen): string {
  const paint = paintFor(screen)
  const width = Math.max(...checks.map(({ id }) => widthOf(id)), 0)
  const lines = checks.flatMap(({ id, title, severities, reads, wants }) => {
    const [first = '', ...rest] = hang(`${pad(id, width)}  `, title, screen.columns)
    const facts = `${severities.join(' or ')}; reads ${[...reads, ...wants].join(', ')}`
    return [
      first.replace(id, paint.strong(id)),
      ...rest,
      ...hang(' '.repeat(width + 2), facts, screen.columns).map((line) => paint.faint(line)),
    ]
  })
  return `${lines.join('\n')}\n\n${countOf(checks.length, 'check')}. More about a check: testops-admin explain ID\n`
}
