import { closestTo } from '../core/nearest.ts'
import type { ExplainEntry } from '../knowledge/explain/entry.ts'
import type { SearchAnswer } from '../knowledge/explain/search.ts'
import { paintFor } from './paint.ts'
import type { Screen } from './screen.ts'
import { hang, pad, printable, widthOf, wrap } from './text.ts'

/** What `explain --json` prints (DESIGN.md 4). `nearest` is there only where nothing was found. */
export interface ExplainDocument {
  schemaVersion: 1
  query: string
  entries: readonly (Omit<ExplainEntry, 'severities' | 'isToldBy'> & { score: number })[]
  nearest?: readonly string[]
}

export function explainDocument(query: string, { found, nearest }: SearchAnswer): ExplainDocument {
  const entries = found.map(({ entry: { severities: _, isToldBy: _log, ...shown }, score }) => ({ ...shown, score }))
  return { schemaVersion: 1, query, entries, ...(found.length === 0 ? { nearest } : {}) }
}

/** One text in full; several as a list to choose from. */
export function explainText(document: ExplainDocument, screen: Screen): string {
  const [first, ...others] = document.entries
  if (!first) return notFound(document, screen)
  return others.length === 0 ? inFull(first, screen) : list(document.entries, screen)
}

function inFull(entry: ExplainDocument['entries'][number], screen: Screen): string {
  const paint = paintFor(screen)
  const lines = [
    paint.strong(entry.id),
    ...wrap(entry.kind === 'fault' ? `Fault: ${entry.title}.` : `Healthy: ${entry.title}.`, screen.columns),
    '',
    ...wrap(entry.meaning, screen.columns),
  ]
  if (entry.causes.length > 0) lines.push('', paint.strong('Why it happens'))
  for (const cause of entry.causes) lines.push(...hang('  - ', cause, screen.columns))
  if (entry.verify.length > 0) lines.push('', paint.strong('How to see it'))
  for (const command of entry.verify) lines.push(`    ${command}`)
  if (entry.remedies.length > 0) lines.push('', paint.strong('What to do'))
  for (const { text, commands } of entry.remedies) {
    lines.push(...hang('  - ', text, screen.columns))
    for (const command of commands) lines.push(`      ${command}`)
  }
  return `${[...lines, '', paint.faint(`Source: ${entry.source}`)].join('\n')}\n`
}

function list(entries: ExplainDocument['entries'], screen: Screen): string {
  const width = Math.max(...entries.map(({ id }) => widthOf(id)))
  const lines = entries.flatMap(({ id, title }) => hang(`  ${pad(id, width)}  `, title, screen.columns))
  return `${lines.join('\n')}\n\nOne of them in full: testops-admin explain ID\n`
}

function notFound({ query, nearest = [] }: ExplainDocument, { columns }: Screen): string {
  const hint = nearest.length > 0 ? `; ${closestTo(query, nearest)}` : ''
  const said = `Nothing is known of \`${printable(query)}\`${hint}`
  return `${[...wrap(said.endsWith('?') ? said : `${said}.`, columns), 'All names: testops-admin explain'].join('\n')}\n`
}
