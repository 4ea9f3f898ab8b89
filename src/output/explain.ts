import type { CheckReport } from '../core/check.ts'
import { closestTo } from '../core/nearest.ts'
import { withoutSecrets } from '../core/redaction/index.ts'
import type { ExplainEntry } from '../knowledge/explain/entry.ts'
import type { SearchAnswer } from '../knowledge/explain/search/search.ts'
import { clip, hang, pad, printable, widthOf, wrap, countOf } from './text.ts'
import { paintFor, saying } from './paint.ts'
import type { Screen } from './paint.ts'

type ShownEntry = Pick<
  ExplainEntry,
  'id' | 'kind' | 'title' | 'meaning' | 'causes' | 'verify' | 'remedies' | 'source'
> & {
  /** Entries that say more */
  see: readonly string[]
  score: number
}

/** What `explain --json` prints (DESIGN.md 4). `nearest` is present only if nothing was found. */
export interface ExplainDocument {
  schemaVersion: 1
  /** What was asked for, cut if it is long; empty for everything */
  query: string
  entries: readonly ShownEntry[]
  nearest?: readonly string[]
}

/** Characters of a pasted text that are repeated */
const longestQuery = 200

/** Returns what `explain` prints. A null `query` shows every entry. */
export function explainDocument(query: string | null, { found, nearest }: SearchAnswer): ExplainDocument {
  const entries = found.map(
    ({ entry: { id, kind, title, meaning, causes, verify, remedies, source, see = [] }, score }) => ({
      id,
      kind,
      title,
      meaning,
      causes,
      verify,
      remedies,
      source,
      see,
      score,
    }),
  )
  return { schemaVersion: 1, query: shownQuery(query ?? ''), entries, ...(found.length === 0 ? { nearest } : {}) }
}

/** Removes secrets, which the owner of a text may overlook, and shortens it. */
function shownQuery(query: string): string {
  const clean = withoutSecrets(query)
  return clean.length > longestQuery ? `${clean.slice(0, longestQuery)}…` : clean
}

/** Returns one entry in full and the names of others that match; a list of several if none matches best. */
export function explainText(document: ExplainDocument, screen: Screen): string {
  const [first, ...others] = document.entries
  if (!first) return notFound(document, screen)
  if (document.query === '') return everything(document.entries, screen)
  const isBest = others.every(({ score }) => score < first.score)
  return isBest ? inFull(first, others, screen) : list(document.entries, screen) + how(screen)
}

function how(screen: Screen): string {
  return `\n${saying(screen)('Show an entry in full:')} testops-admin explain ID\n`
}

function whatItIs({ kind, title }: ShownEntry, screen: Screen): string {
  const say = saying(screen)
  switch (kind) {
    case 'check':
      return say(`Healthy: ${title}.`)
    case 'fault':
      return say(`Fault: ${title}.`)
    case 'signature':
      return say(`In a log: ${title}.`)
    case 'term':
      return `${title}.`
  }
}

function inFull(entry: ShownEntry, others: readonly ShownEntry[], screen: Screen): string {
  const paint = paintFor(screen)
  const say = saying(screen)
  const lines = [
    paint.strong(printable(entry.id)),
    ...wrap(whatItIs(entry, screen), screen.columns),
    '',
    ...wrap(entry.meaning, screen.columns),
  ]
  if (entry.causes.length > 0) lines.push('', paint.strong(say('Why it happens')))
  for (const cause of entry.causes) lines.push(...hang('  - ', cause, screen.columns))
  if (entry.verify.length > 0) lines.push('', paint.strong(say('How to see it')))
  for (const command of entry.verify) lines.push(`    ${printable(command)}`)
  if (entry.remedies.length > 0) lines.push('', paint.strong(say('What to do')))
  for (const { text, commands } of entry.remedies) {
    lines.push(...hang('  - ', text, screen.columns))
    for (const command of commands) lines.push(`      ${printable(command)}`)
  }
  const more = [...new Set([...others.map(({ id }) => id), ...entry.see])]
  if (more.length > 0) lines.push('', ...hang(`${say('See also:')} `, more.join(', '), screen.columns))
  return `${[...lines, '', paint.faint(`${say('Source:')} ${printable(entry.source)}`)].join('\n')}\n`
}

function list(entries: readonly ShownEntry[], screen: Screen): string {
  const width = Math.max(...entries.map(({ id }) => widthOf(id)))
  return `${entries.flatMap(({ id, title }) => hang(`  ${pad(id, width)}  `, title, screen.columns)).join('\n')}\n`
}

function everything(entries: readonly ShownEntry[], screen: Screen): string {
  const say = saying(screen)
  const headings: Readonly<Record<ExplainEntry['kind'], string>> = {
    check: say('Checks, by their healthy state'),
    fault: say('Faults'),
    signature: say('Log lines'),
    term: say('Terms in the web interface, and common questions'),
  }
  const parts = (['check', 'fault', 'signature', 'term'] as const).map((kind) => {
    const some = entries.filter((entry) => entry.kind === kind)
    return some.length > 0 ? `${paintFor(screen).strong(headings[kind])}\n${list(some, screen)}\n` : ''
  })
  return `${parts.join('').trimEnd()}\n${how(screen)}`
}

function notFound({ query, nearest = [] }: ExplainDocument, screen: Screen): string {
  const { columns } = screen
  const say = saying(screen)
  const asked = printable(query.trim())
  const hint = nearest.length > 0 ? `; ${closestTo(asked, nearest)}` : ''
  const said = asked === '' ? 'The text is empty' : `No entry matches \`${clip(asked, columns)}\`${hint}`
  if (/^own\/\S+$/.test(asked)) {
    const own = wrap(say(`\`${clip(asked, columns)}\` is one of your own checks.`), columns)
    return `${[...own, `${say('Find its file:')} testops-admin checks`].join('\n')}\n`
  }
  const lines = wrap(say(said.endsWith('?') ? said : `${said}.`), columns)
  return `${[...lines, `${say('List all entries:')} testops-admin explain`].join('\n')}\n`
}

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
    /** The file of an operator's own check */
    file?: string
    /** Why that file could not be loaded; `title`, `severities` and `reads` are then not its own */
    error?: NonNullable<CheckReport['error']>
  }[]
}

/** Returns the catalogue with an entry for each check: id, healthy state, severities, sources. */
export function checksText({ checks }: ChecksDocument, screen: Screen): string {
  const paint = paintFor(screen)
  const width = Math.max(...checks.map(({ id }) => widthOf(id)), 0)
  const indent = ' '.repeat(width + 2)
  const lines = checks.flatMap(({ id, title, severities, reads, wants, file, error }) => {
    const [first = '', ...rest] = hang(`${pad(id, width)}  `, title, screen.columns)
    const head = [first.replace(id, paint.strong(id)), ...rest]
    if (error) {
      const [next] = error.suggestions
      const why = hang(indent, `Not loaded: ${inOneLine(error.message)}`, screen.columns)
      return [...head, ...why, ...(next === undefined ? [] : [`${indent}    ${printable(next)}`])]
    }
    const sources = [...reads, ...wants].join(', ') || 'no source'
    const facts = `${severities.join(' or ')}; reads ${sources}${file === undefined ? '' : `; in ${printable(file)}`}`
    return [...head, ...hang(indent, facts, screen.columns).map((line) => paint.faint(line))]
  })
  const failed = checks.filter(({ error }) => error !== undefined)
  return [
    ...lines,
    '',
    ...(failed.length === 0 ? [] : [`${countOf(failed.length, 'own check')} could not be loaded.`]),
    `${countOf(checks.length, 'check')}. More about a check: testops-admin explain ID`,
  ]
    .map((line) => `${line}\n`)
    .join('')
}

/** Characters of an error that are shown; --json shows all */
const mostOfError = 400

function inOneLine(message: string): string {
  return clip(printable(message.replace(/\s+/g, ' ')), mostOfError)
}
